/* sbox and sbox-archive talk over one SOCK_SEQPACKET pair (descriptor 3 of sbox-archive), one
 * message a packet, at most one descriptor each (net/wire.h sends and receives them).
 *
 *     sbox:    ROOT* CONFINE                     the trees it may read files of; none for reading
 *     archive: READY, or FAILED (then it ends)
 *
 * To write a unit:
 *     sbox:    RECORDS DIRECTORY OUTPUT          descriptors: canonical records, the unit's
 *     archive: WRITTEN, or FAILED                directory (or file), an empty file
 *
 * To read one:
 *     sbox:    RECORDS SOURCE                    SOURCE: the snapshot
 *     sbox:    WANT index, with a descriptor     of a file's record; indexes only grow
 *     archive: READ, or FAILED                   the descriptor holds exactly what was recorded, or
 *     ...                                        what is in it is to be thrown away
 *
 * A closed socket ends sbox-archive. It parses hostile bytes: what it says is a number, or is
 * escaped; and what it has written is only ever used under the name and mode that sbox knows from
 * the manifest. */
#ifndef SBOX_ARCHIVE_WIRE_H
#define SBOX_ARCHIVE_WIRE_H

#include <stdint.h>

enum sbox_archive_type {
    SBOX_ARCHIVE_ROOT = 1,
    SBOX_ARCHIVE_CONFINE,
    SBOX_ARCHIVE_READY,
    SBOX_ARCHIVE_RECORDS,
    SBOX_ARCHIVE_DIRECTORY,
    SBOX_ARCHIVE_OUTPUT,
    SBOX_ARCHIVE_WRITTEN, /* number: bytes of files that were archived */
    SBOX_ARCHIVE_SOURCE,
    SBOX_ARCHIVE_WANT, /* number: index of the record */
    SBOX_ARCHIVE_READ,
    SBOX_ARCHIVE_FAILED, /* code: errno; text: why; number: index of the record, or NO_RECORD */
};

#define SBOX_ARCHIVE_NO_RECORD UINT64_MAX

struct sbox_archive_message {
    uint32_t type;
    int32_t code;
    uint64_t number;
    char text[128];
};

#endif
