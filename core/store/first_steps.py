"""The first steps of the schema; core/store/migrations.py has the later ones and applies all.

Never edit a released step.
"""

from __future__ import annotations

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

FIRST_STEPS: tuple[tuple[str, str], ...] = (
    ("0001_initial", _0001),
    ("0002_calls", _0002),
    ("0003_amendments", _0003),
    ("0004_sending", _0004),
    ("0005_reply_parts", _0005),
    ("0006_coders", _0006),
    ("0007_call_factors", _0007),
    ("0008_item_attributes", _0008),
)
