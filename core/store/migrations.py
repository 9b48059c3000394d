"""The schema, as an append-only list of steps. Never edit a released step.

Keys are 63-bit hashes in BIGINT: a text key costs ten times the CPU and thirteen times the file.
Tables with a row for each answer have no index: one of hashed keys costs three times the rest.
Rows are added, not changed; what a thing has become is read from the newest row about it.
"""

from __future__ import annotations

import duckdb

from core.store.first_steps import FIRST_STEPS

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

_MEMBERS = """
-- What each member of a lab was typing, apart from page_memory of whoever works alone.
create table member_memory (
    member varchar not null,
    name varchar not null,
    saved_at timestamptz not null,
    value varchar not null,             -- JSON
    primary key (member, name)
);
-- Who did what with a study. Codings name their coder themselves. '': who works alone.
create sequence study_log_number;
create table study_log (
    number bigint primary key default nextval('study_log_number'),
    study_id bigint not null,
    logged_at timestamptz not null,
    member varchar not null,
    what varchar not null
);
"""

_SHELF = """
-- How a study stands in lists; its newest row counts.
create sequence study_shelf_number;
create table study_shelf (
    number bigint primary key default nextval('study_shelf_number'),
    study_id bigint not null,
    changed_at timestamptz not null,
    member varchar not null,            -- '': who works alone
    title varchar not null,             -- shown in place of the code; '': the code
    place varchar not null check (place in ('listed', 'archived', 'deleted')),
    what varchar not null               -- the change in words, for the log of the study
);
"""

_CONTEXT_TEXTS = """
-- Personas of a study in further languages; study_context has the text that was written first.
create table context_text (
    study_id bigint not null,
    code varchar not null,
    language varchar not null,
    text varchar not null
);
"""

MIGRATIONS: tuple[tuple[str, str], ...] = (
    *FIRST_STEPS,
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
    ("0021_members", _MEMBERS),
    ("0022_shelf", _SHELF),
    ("0023_context_texts", _CONTEXT_TEXTS),
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
