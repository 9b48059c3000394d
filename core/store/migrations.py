"""The schema, as an append-only list of steps. Never edit a released step.

Keys are 63-bit hashes in BIGINT: a text key costs ten times the CPU and thirteen times the file.
Tables with a row for each answer have no index: one of hashed keys costs three times the rest.
Rows are added, not changed; what a thing has become is read from the newest row about it.
"""

from __future__ import annotations

import duckdb

_0001 = """
-- Question banks. A draft is the working copy, one row per save, so that every edit can be undone.
create table draft (
    code varchar not null,
    revision integer not null,
    parent integer,                     -- the revision it was made from; null for the first
    saved_at timestamptz not null,
    summary varchar not null,           -- what changed, in words
    body varchar not null,              -- JSON of domain.instrument.to_dict
    primary key (code, revision)
);
create table draft_head (
    code varchar primary key,
    revision integer not null,
    archived boolean not null
);
-- A version is a published, immutable state of a bank.
create table instrument (
    instrument_id bigint primary key,
    code varchar not null,
    version integer not null,
    content_hash varchar not null,      -- SHA-256
    published_at timestamptz not null,
    body varchar not null,
    unique (code, version)
);
create table item (
    item_id bigint primary key,
    instrument_id bigint not null,
    position integer not null,
    code varchar not null,
    subscale varchar not null,
    keyed tinyint not null check (keyed in (-1, 1)),
    unique (instrument_id, code)
);
create table wording (
    item_id bigint not null,
    language varchar not null,
    form varchar not null,
    text varchar not null
);
create table answer_option (
    instrument_id bigint not null,
    format varchar not null,
    position integer not null,          -- 1 .. k as shown
    code varchar not null,
    points double,                      -- score points before reverse-keying; null: not scored
    stance tinyint
);

-- Who is asked. Never a key.
create table respondent (
    respondent_id bigint primary key,
    label varchar not null,
    kind varchar not null check (kind in ('simulated', 'local', 'api', 'imported')),
    model varchar not null,
    body varchar not null,              -- JSON of a domain.study.Respondent
    created_at timestamptz not null
);
create table respondent_shelf (         -- whether it is offered on the design page
    label varchar primary key,
    respondent_id bigint not null,
    archived boolean not null
);
create table persona_set (
    name varchar primary key,
    saved_at timestamptz not null,
    body varchar not null               -- JSON list of {code, text}
);

-- Studies.
create table study (
    study_id bigint primary key,
    code varchar not null unique,
    kind varchar not null check (kind in ('planned', 'imported')),
    instrument_id bigint not null,
    design varchar not null,            -- JSON of domain.study.as_json_values
    plan_hash varchar not null,         -- SHA-256
    frozen_at timestamptz not null
);
create table study_context (
    study_id bigint not null,
    code varchar not null,
    text varchar not null
);
create table administration (           -- one respondent answers one form once
    administration_id bigint primary key,
    study_id bigint not null,
    respondent_id bigint not null,
    language varchar not null,
    context varchar not null,
    entity varchar not null,
    entity_b varchar not null,
    form varchar not null,
    format varchar not null,
    template varchar not null,
    label_order varchar not null,
    phase varchar not null,
    repetition integer not null
);
create table trial (                    -- one item put once in one administration
    trial_id bigint primary key,
    study_id bigint not null,
    administration_id bigint not null,
    item_id bigint not null,
    ordinal bigint not null,            -- 1 .. n in the order of asking
    call varchar,                       -- imported: which request it shared with others
    position integer,                   -- imported: its place in that request
    tags varchar                        -- imported: JSON of the columns Inkblot does not know
);

-- What was said. Verbatim text stands apart, because it is what outgrows a machine.
create table prompt (
    prompt_id bigint primary key,
    messages varchar not null           -- JSON list of {role, content}
);
create table attempt (
    attempt_id bigint primary key,
    study_id bigint not null,
    trial_id bigint not null,
    number integer not null,            -- 1 .. over all runs
    prompt_id bigint,
    request_hash bigint,                -- over model, messages and settings
    sent_at timestamptz,
    latency_s double,
    outcome varchar not null,           -- 'reply', or a failure kind
    http_status smallint,
    message varchar not null,           -- failures: in plain words
    finish_reason varchar not null,
    model varchar not null,             -- as the service named it
    tokens_in integer,
    tokens_out integer,
    cost double,                        -- US dollars; null: unknown
    cost_estimated boolean not null
);
create table attempt_text (
    attempt_id bigint primary key,
    reply varchar not null
);
create table response (                 -- what a trial came to; at most one
    trial_id bigint primary key,
    study_id bigint not null,
    attempt_id bigint,
    status varchar not null,
    option varchar,                     -- code of the option chosen; null unless usable
    score double,                       -- imported scores only; else points of the option
    parser integer                      -- version of the parser; null: imported
);

-- Runs are what was asked of the collector and what it reports, newest last.
create sequence run_event_number;
create table run_event (
    number bigint primary key default nextval('run_event_number'),
    study_id bigint not null,
    reported_at timestamptz not null,
    kind varchar not null,
    process varchar not null,
    detail varchar not null             -- JSON
);

create table page_memory (              -- what was being typed, so that a reload keeps it
    name varchar primary key,
    saved_at timestamptz not null,
    value varchar not null              -- JSON
);
"""

_0002 = """
-- A call is one request; it carries one trial or a numbered block of them. A trial asked alone has
-- the call of its own id, which is what every trial of an earlier Inkblot was.
alter table trial add column call_id bigint;
update trial set call_id = trial_id;
alter table attempt rename column trial_id to call_id;
create table call_shown (               -- what a call shows that its factors do not say
    call_id bigint primary key,
    study_id bigint not null,
    option_order varchar,               -- codes as shown, chr(31) between; null: as in the format
    opinion varchar                     -- option code of the opinion put to the model; null: none
);
create table attempt_token (            -- probabilities of the first token, where asked for
    attempt_id bigint primary key,
    body varchar not null               -- JSON list of [token, natural log probability]
);
alter table response add column chance double;      -- probability of the option by its first token
alter table response add column tries integer;      -- replies it took; null: imported

-- Items know more: who they are paired with, what they load on, how their forms point.
alter table item add column pair varchar default '';
alter table item add column genre varchar default '';
alter table item add column rank integer;
create table item_loading (             -- agreeing with an item speaks for (+1) or against a domain
    item_id bigint not null,
    domain varchar not null,
    loading tinyint not null
);
create table item_position (            -- what a party answers
    item_id bigint not null,
    party varchar not null,
    answer tinyint not null             -- -1 disagree, 0 neutral, 1 agree
);
create table item_direction (           -- forms that point another way than their name says
    item_id bigint not null,
    form varchar not null,
    direction tinyint not null check (direction in (-1, 1))
);
alter table wording add column mood varchar default '';
alter table wording add column drafted_by varchar default '';
create table answer_format (
    instrument_id bigint not null,
    format varchar not null,
    midpoint varchar not null,          -- what stance 0 counts as, made 0 or 1: coin, half, drop
    mood varchar not null
);
insert into answer_format
    select instrument_id, format, 'coin', '' from answer_option group by all;

-- Contexts may be conversations; a study keeps the wordings of its instructions.
alter table study_context add column messages varchar default '';   -- JSON list of {role, content}
alter table study_context add column language varchar default '';
alter table study_context add column variant_of varchar default '';
create table study_template (
    study_id bigint not null,
    code varchar not null,
    body varchar not null               -- JSON of domain.templates.to_dict
);
create table prompt_template (          -- templates written by users; the newest save counts
    code varchar not null,
    saved_at timestamptz not null,
    body varchar not null
);
create sequence price_number;
create table price (                    -- what a model costs; the newest row of a model counts
    number bigint primary key default nextval('price_number'),
    model varchar not null,
    price_in double,                    -- US dollars per million tokens; null: forget the price
    price_out double,
    as_of date not null,                -- the day the price was looked up
    source varchar not null
);
create table study_phase (              -- phases planned after the first, from coded answers
    study_id bigint not null,
    phase varchar not null,
    plan_hash varchar not null,
    frozen_at timestamptz not null
);

-- A person's coding of a reply, and re-readings of replies. The newest row about a trial counts.
create sequence coding_number;
create table audit_sample (             -- one seeded draw
    audit_id bigint not null,
    study_id bigint not null,
    trial_id bigint not null,
    place integer not null,             -- 1 .. n in the order of coding, within a model
    primary key (audit_id, trial_id)
);
create table audit (
    audit_id bigint primary key,
    study_id bigint not null,
    seed bigint not null,
    per_model integer not null,
    at_end boolean not null,            -- what the parser read is shown only when all is coded
    drawn_at timestamptz not null
);
create table coding (
    number bigint primary key default nextval('coding_number'),
    audit_id bigint not null,
    trial_id bigint not null,
    coded_at timestamptz not null,
    status varchar not null,
    option varchar,
    parser_status varchar not null,     -- what the parser had said when the person coded it
    parser_option varchar
);
create sequence recoding_number;
create table recoding (                 -- what a response was before it was read anew or overridden
    number bigint primary key default nextval('recoding_number'),
    trial_id bigint not null,
    study_id bigint not null,
    recoded_at timestamptz not null,
    cause varchar not null check (cause in ('parser', 'person', 'undo')),
    status varchar not null,            -- before, as all that follows
    option varchar,
    parser integer,
    attempt_id bigint,
    tries integer,
    chance double,
    score double
);
-- Responses that are as a person coded them, with what they were before any person did.
create view person_set as
select * exclude (changed) from (
    select *, max(number) filter (where cause <> 'person')
        over (partition by study_id, trial_id) as changed
    from recoding
)
where cause = 'person' and number > coalesce(changed, 0)
qualify row_number() over (partition by study_id, trial_id order by number) = 1;
"""

_0003 = """
-- How a respondent of a frozen study is asked from some time on. The plan and its hash stay.
create sequence amendment_number;
create table amendment (
    number bigint primary key default nextval('amendment_number'),
    study_id bigint not null,
    respondent_id bigint not null,      -- as planned
    amended_at timestamptz not null,
    change varchar not null,            -- in words
    reason varchar not null,
    body varchar not null               -- JSON of a domain.study.Respondent, as asked then
);
"""

_0004 = """
-- Every try at a call, written before it is sent. One that has no attempt was sent, and its answer
-- is not kept: Inkblot was killed before it could write it.
create table sending (
    study_id bigint not null,
    call_id bigint not null,
    number integer not null,            -- as in attempt
    run bigint not null,                -- number of the run_event 'running' of its run
    written_at timestamptz not null,
    cost double                         -- US dollars at worst; null: unknown
);
"""

_0005 = """
-- What came beside the text of a reply, and what came instead of one; verbatim.
create table attempt_part (
    attempt_id bigint primary key,
    reasoning varchar,
    tool_calls varchar,                 -- JSON, as sent
    refusal varchar,                    -- the service's own field for it
    body varchar                        -- of what was no reply, its first 64 KB
);
create table attempt_usage (            -- tokens of reasoning, a part of attempt.tokens_out
    attempt_id bigint primary key,
    tokens_reasoning integer not null
);
"""

_0006 = """
-- Several coders code a sample, each alone. Codings of a file without names are those of Coder 1.
-- Made anew: after a kill, DuckDB cannot replay a new column of a table that has a sequence.
create temp table coding_before as select * from coding;
drop table coding;
create table coding (
    number bigint primary key default nextval('coding_number'),
    audit_id bigint not null,
    trial_id bigint not null,
    coded_at timestamptz not null,
    status varchar not null,
    option varchar,
    parser_status varchar not null,     -- what the parser had said when the person coded it
    parser_option varchar,
    coder varchar not null default 'Coder 1'
);
insert into coding by name select *, 'Coder 1' as coder from coding_before;
drop table coding_before;
create sequence coding_note_number;
create table coding_note (              -- the newest of a reply and person counts; '': no note
    number bigint primary key default nextval('coding_note_number'),
    audit_id bigint not null,
    trial_id bigint not null,
    coder varchar not null,
    noted_at timestamptz not null,
    note varchar not null
);
create table adjudicator (              -- persons who see all codings and code nothing themselves
    audit_id bigint not null,
    name varchar not null,
    since timestamptz not null,
    primary key (audit_id, name)
);
create sequence adjudication_number;
create table adjudication (             -- final codings; the newest of a reply counts
    number bigint primary key default nextval('adjudication_number'),
    audit_id bigint not null,
    trial_id bigint not null,
    adjudicator varchar not null,
    decided_at timestamptz not null,
    status varchar not null,
    option varchar
);
"""

_0007 = """
-- How many items a call asks ('1', '10', 'all') and whether the earlier calls of the administration
-- come before it ('none', 'own'). Empty: answers brought in, not varied.
alter table administration add column items_per_call varchar default '';
alter table administration add column history varchar default '';
update administration a set history = 'none', items_per_call = case
    when a.phase = 'initial' and s.items_per_call = '0' then 'all'
    when a.phase = 'initial' then s.items_per_call else '1' end
from (select study_id, coalesce(json_extract_string(design, '$.items_per_call'), '1')
    as items_per_call from study where kind = 'planned') s
where a.study_id = s.study_id;
"""

_0008 = """
-- Columns of the user's own. Banks published before have none.
create table item_attribute (
    item_id bigint not null,
    name varchar not null,              -- without `item.`
    text varchar not null,              -- the value as text, also of a number
    number double                       -- null: the value is a text
);
"""

_BATCHES = """
-- Files of requests for batch services. No run asks a call that is in an open batch.
create table batch (
    batch_id bigint primary key,
    study_id bigint not null,
    respondent_id bigint not null,      -- as planned
    number integer not null,            -- 1 .. n in the study
    file varchar not null,              -- its name, without the folder
    sha256 varchar not null,            -- of the file
    price_factor double not null,       -- the respondent's prices are multiplied by it
    exported_at timestamptz not null
);
create table batch_call (               -- a try at a call that went into a file
    batch_id bigint not null,
    study_id bigint not null,
    call_id bigint not null,
    number integer not null,            -- as in attempt
    prompt_id bigint not null,
    request_hash bigint not null,
    cost double                         -- US dollars at worst; null: unknown
);
create table batch_reply (              -- a line that came for a try
    study_id bigint not null,
    call_id bigint not null,
    number integer not null,
    line_hash bigint not null,          -- of the line as it came
    returned boolean not null           -- the service gave the try back and did not make it
);
create sequence batch_event_number;
create table batch_event (              -- what became of a batch; the newest row counts
    number bigint primary key default nextval('batch_event_number'),
    batch_id bigint not null,
    reported_at timestamptz not null,
    status varchar not null,
    detail varchar not null             -- JSON
);
create sequence batch_drive_number;
create table batch_drive (              -- start, stop and end of driving a respondent's batches
    number bigint primary key default nextval('batch_drive_number'),
    study_id bigint not null,
    respondent_id bigint not null,
    reported_at timestamptz not null,
    kind varchar not null check (kind in ('start', 'stop', 'ended')),
    process varchar not null,
    detail varchar not null             -- JSON
);
-- Tries whose replies are awaited.
create view call_out as
select c.batch_id, c.study_id, c.call_id, c.number, c.cost
from batch_call c
where c.batch_id not in (select batch_id from batch_event where status in ('done', 'released'))
    and not exists (select 1 from batch_reply r where r.call_id = c.call_id
        and r.number = c.number and r.study_id = c.study_id);
"""

_RECIPES = """
-- How sets of contexts were chosen from a corpus; a study keeps the recipes of its contexts.
create table context_recipe (
    set_name varchar not null,          -- one row of each; without a key, for it is replaced
    saved_at timestamptz not null,
    body varchar not null               -- JSON of a domain.recipes.Recipe
);
create table study_recipe (
    study_id bigint not null,
    set_name varchar not null,
    contexts integer not null,          -- how many contexts of the study are from the set
    body varchar not null
);
"""

_CACHED_TOKENS = """
-- Tokens of the prompt that the service had in its cache, and what they cost.
create table attempt_cache (            -- a part of attempt.tokens_in
    attempt_id bigint primary key,
    tokens_cached integer not null
);
-- Made anew: after a kill, DuckDB cannot replay a new column of a table that has a sequence.
create temp table price_before as select * from price;
drop table price;
create table price (                    -- what a model costs; the newest row of a model counts
    number bigint primary key default nextval('price_number'),
    model varchar not null,
    price_in double,                    -- US dollars per million tokens; null: forget the price
    price_out double,
    as_of date not null,                -- the day the price was looked up
    source varchar not null,
    price_cached double                 -- null: as price_in
);
insert into price by name select * from price_before;
drop table price_before;
"""

_TEMPLATES = """
create table template_archive (         -- templates put away or brought back; the newest row counts
    code varchar not null,
    changed_at timestamptz not null,
    archived boolean not null
);
"""

_READINGS = """
-- How a response was read: the layer of the reader that decided, how surely, whether the reply also
-- disclaims, and the label of the judge if one was asked. Null: read before this was kept, or
-- imported.
alter table response add column layer varchar;
alter table response add column certainty varchar;
alter table response add column hedged boolean;
alter table response add column judge varchar;
-- Made anew: after a kill, DuckDB cannot replay a new column of a table that has a sequence.
create temp table recoding_before as select * from recoding;
drop view person_set;
drop table recoding;
create table recoding (                 -- what a response was before it was read anew or overridden
    number bigint primary key default nextval('recoding_number'),
    trial_id bigint not null,
    study_id bigint not null,
    recoded_at timestamptz not null,
    cause varchar not null check (cause in ('parser', 'person', 'judge', 'undo')),
    status varchar not null,            -- before, as all that follows
    option varchar,
    parser integer,
    attempt_id bigint,
    tries integer,
    chance double,
    score double,
    layer varchar,
    certainty varchar,
    hedged boolean,
    judge varchar
);
insert into recoding by name select * from recoding_before;
drop table recoding_before;
-- Responses that are as a person coded them, or as a judge did, with what they were before.
create view person_set as
select * exclude (changed) from (
    select *, max(number) filter (where cause <> 'person')
        over (partition by study_id, trial_id) as changed
    from recoding
)
where cause = 'person' and number > coalesce(changed, 0)
qualify row_number() over (partition by study_id, trial_id order by number) = 1;
update response set layer = 'person' where trial_id in (select trial_id from person_set);
create view judge_set as
select * exclude (changed) from (
    select *, max(number) filter (where cause <> 'judge')
        over (partition by study_id, trial_id) as changed
    from recoding
)
where cause = 'judge' and number > coalesce(changed, 0)
qualify row_number() over (partition by study_id, trial_id order by number) = 1;
"""

_AUDIT_KINDS = """
-- Kinds of replies to which the sample of an audit is restricted; none: all replies.
create table audit_kind (
    audit_id bigint not null,
    kind varchar not null,              -- certain, likely, guess, hedged, judged
    primary key (audit_id, kind)
);
"""

_ROWS_WITHOUT_INDEX = """
-- Tables with a row for each answer or try have no index of their keys. An index of hashed keys
-- took most of the time of a write and of the file, and both grew with every row on file. What adds
-- rows looks for their keys first (core/store/collection.py, imports.py, packages.py).
create table administration_by_row (
    administration_id bigint not null,
    study_id bigint not null,
    respondent_id bigint not null,
    language varchar not null,
    context varchar not null,
    entity varchar not null,
    entity_b varchar not null,
    form varchar not null,
    format varchar not null,
    template varchar not null,
    label_order varchar not null,
    phase varchar not null,
    repetition integer not null,
    items_per_call varchar default '',
    history varchar default ''
);
insert into administration_by_row by name from administration;
drop table administration;
alter table administration_by_row rename to administration;
create table trial_by_row (
    trial_id bigint not null,
    study_id bigint not null,
    administration_id bigint not null,
    item_id bigint not null,
    ordinal bigint not null,
    call varchar,
    position integer,
    tags varchar,
    call_id bigint
);
insert into trial_by_row by name from trial;
drop table trial;
alter table trial_by_row rename to trial;
create table call_shown_by_row (
    call_id bigint not null,
    study_id bigint not null,
    option_order varchar,
    opinion varchar
);
insert into call_shown_by_row by name from call_shown;
drop table call_shown;
alter table call_shown_by_row rename to call_shown;
create table attempt_by_row (
    attempt_id bigint not null,
    study_id bigint not null,
    call_id bigint not null,
    number integer not null,
    prompt_id bigint,
    request_hash bigint,
    sent_at timestamptz,
    latency_s double,
    outcome varchar not null,
    http_status smallint,
    message varchar not null,
    finish_reason varchar not null,
    model varchar not null,
    tokens_in integer,
    tokens_out integer,
    cost double,
    cost_estimated boolean not null
);
insert into attempt_by_row by name from attempt;
drop table attempt;
alter table attempt_by_row rename to attempt;
create table attempt_text_by_row (
    attempt_id bigint not null,
    reply varchar not null
);
insert into attempt_text_by_row by name from attempt_text;
drop table attempt_text;
alter table attempt_text_by_row rename to attempt_text;
create table attempt_token_by_row (
    attempt_id bigint not null,
    body varchar not null
);
insert into attempt_token_by_row by name from attempt_token;
drop table attempt_token;
alter table attempt_token_by_row rename to attempt_token;
create table attempt_part_by_row (
    attempt_id bigint not null,
    reasoning varchar,
    tool_calls varchar,
    refusal varchar,
    body varchar
);
insert into attempt_part_by_row by name from attempt_part;
drop table attempt_part;
alter table attempt_part_by_row rename to attempt_part;
create table attempt_usage_by_row (
    attempt_id bigint not null,
    tokens_reasoning integer not null
);
insert into attempt_usage_by_row by name from attempt_usage;
drop table attempt_usage;
alter table attempt_usage_by_row rename to attempt_usage;
create table attempt_cache_by_row (
    attempt_id bigint not null,
    tokens_cached integer not null
);
insert into attempt_cache_by_row by name from attempt_cache;
drop table attempt_cache;
alter table attempt_cache_by_row rename to attempt_cache;
create table response_by_row (
    trial_id bigint not null,
    study_id bigint not null,
    attempt_id bigint,
    status varchar not null,
    option varchar,
    score double,
    parser integer,
    chance double,
    tries integer,
    layer varchar,
    certainty varchar,
    hedged boolean,
    judge varchar
);
insert into response_by_row by name from response;
drop table response;
alter table response_by_row rename to response;
-- What an import of many answers has come to: the newest row of a study and file counts.
create sequence import_event_number;
create table import_event (
    number bigint primary key default nextval('import_event_number'),
    study_id bigint not null,
    reported_at timestamptz not null,
    kind varchar not null check (kind in ('started', 'saved', 'finished', 'cancelled')),
    file varchar not null,              -- its name, without the folder
    sha256 varchar not null,            -- of the file
    n_rows bigint not null,             -- rows of the file for the study
    n_saved bigint not null,            -- of these, rows read and on file by now
    n_new bigint not null,              -- of these, rows that were not on file before
    n_before bigint not null            -- answers of the study before the file
);
"""

_PROMPTS_WITHOUT_INDEX = """
-- Where every call has a prompt of its own, this table grows as those of answers do. With an index
-- of its keys, DuckDB writes up to 120,000 prompts out again each time it empties its log.
create table prompt_by_row (
    prompt_id bigint not null,
    messages varchar not null
);
insert into prompt_by_row by name from prompt;
drop table prompt;
alter table prompt_by_row rename to prompt;
"""

_SETTINGS = """
-- Settings of calls that a design varies are factors; a version of a respondent has its name.
alter table administration add column temperature varchar default '';
alter table administration add column top_p varchar default '';
alter table administration add column max_tokens varchar default '';
alter table respondent add column name varchar;
update respondent set name = label;
"""

_PEOPLE = """
-- Facts about people, such as their age: the same in all their answers, so they stand once.
create table person_fact (
    study_id bigint not null,
    name varchar not null,
    kind varchar not null,              -- category, ordered, number
    levels varchar not null             -- JSON list, in order
);
create table person_value (
    study_id bigint not null,
    context varchar not null,           -- the person
    name varchar not null,
    value varchar not null
);
"""

_PROMPTS_IN_ANY_FORMAT = """
-- An earlier Inkblot named a compression that newer formats of the file do not have.
create table prompt_again (prompt_id bigint not null, messages varchar not null);
insert into prompt_again by name from prompt;
drop table prompt;
alter table prompt_again rename to prompt;
"""

_GENERATION = """
-- How often the file was opened and written to; see Database._begin_generation.
create table generation (number bigint not null);
insert into generation values (0);
"""

MIGRATIONS: tuple[tuple[str, str], ...] = (
    ("0001_initial", _0001),
    ("0002_calls", _0002),
    ("0003_amendments", _0003),
    ("0004_sending", _0004),
    ("0005_reply_parts", _0005),
    ("0006_coders", _0006),
    ("0007_call_factors", _0007),
    ("0008_item_attributes", _0008),
    ("0009_batches", _BATCHES),
    ("0010_recipes", _RECIPES),
    ("0011_cached_tokens", _CACHED_TOKENS),
    ("0012_templates", _TEMPLATES),
    ("0013_readings", _READINGS),
    ("0014_audit_kinds", _AUDIT_KINDS),
    ("0015_rows_without_index", _ROWS_WITHOUT_INDEX),
    ("0016_prompts_without_index", _PROMPTS_WITHOUT_INDEX),
    ("0017_settings", _SETTINGS),
    ("0018_people", _PEOPLE),
    ("0019_prompts_in_any_format", _PROMPTS_IN_ANY_FORMAT),
    ("0020_generation", _GENERATION),
)


def steps_to_apply(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """The steps that this file has not seen, of one with a list of those that it has."""
    rows = connection.execute("select name from schema_migration").fetchall()
    applied = {name for (name,) in rows}
    return [(name, sql) for name, sql in MIGRATIONS if name not in applied]


def apply_migrations(connection: duckdb.DuckDBPyConnection) -> None:
    """Apply the steps this file has not seen, each in its own transaction."""
    connection.execute(
        "create table if not exists schema_migration"
        " (name varchar primary key, applied_at timestamptz not null)"
    )
    for name, sql in steps_to_apply(connection):
        connection.begin()
        try:
            connection.execute(sql)
            connection.execute("insert into schema_migration values (?, now())", [name])
        except BaseException:
            connection.rollback()
            raise
        connection.commit()
