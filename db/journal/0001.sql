-- What networked runs did: perishable, unlike the locks, and therefore a file of its own.

CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    root BLOB NOT NULL, -- canonical path of the project, raw bytes
    started_us INTEGER NOT NULL, -- microseconds since 1970
    duration_us INTEGER NOT NULL,
    program BLOB NOT NULL, -- argv[0] alone: arguments may hold secrets
    status INTEGER NOT NULL, -- sbox's exit status
    omitted INTEGER NOT NULL -- connections beyond the most that are kept
) STRICT;

CREATE INDEX run_of_root ON run (root, id);

CREATE TABLE connection (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    host BLOB NOT NULL,
    port INTEGER NOT NULL,
    address BLOB NOT NULL, -- text of what was dialled, '' for nothing
    verdict INTEGER NOT NULL,
    way INTEGER NOT NULL,
    error INTEGER NOT NULL,
    started_us INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL,
    bytes_in INTEGER NOT NULL
) STRICT;

CREATE INDEX connection_of_run ON connection (run);
