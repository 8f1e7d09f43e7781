-- Content-addressed like git's trees: a unit is the canonical list of one package's entries
-- (src/lock/record.h), named by its SHA-256 and stored once, however many locks and projects hold
-- it. What is local to this machine and perishable (stat data) lies apart.

CREATE TABLE unit (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    records BLOB NOT NULL
) STRICT;

CREATE TABLE lock (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    root BLOB NOT NULL, -- canonical path of the project, raw bytes
    time INTEGER NOT NULL,
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    local BLOB NOT NULL CHECK (length(local) = 32)
) STRICT;

CREATE INDEX lock_of_root ON lock (root, id);

CREATE TABLE tree (
    id INTEGER PRIMARY KEY,
    lock INTEGER NOT NULL REFERENCES lock (id) ON DELETE CASCADE,
    path BLOB NOT NULL,
    kind INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    link BLOB, -- text of the link that the tree is, else NULL
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    local BLOB NOT NULL CHECK (length(local) = 32),
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    UNIQUE (lock, path)
) STRICT;

CREATE TABLE member (
    tree INTEGER NOT NULL REFERENCES tree (id) ON DELETE CASCADE,
    path BLOB NOT NULL,
    unit INTEGER NOT NULL REFERENCES unit (id),
    name BLOB NOT NULL,
    version BLOB NOT NULL,
    hooks BLOB NOT NULL, -- install scripts of its package.json: (name NUL command NUL)*
    doubts INTEGER NOT NULL, -- why parsers may disagree about its package.json
    PRIMARY KEY (tree, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX member_unit ON member (unit);

CREATE TABLE stat (
    tree INTEGER PRIMARY KEY REFERENCES tree (id) ON DELETE CASCADE,
    data BLOB NOT NULL
) STRICT;
