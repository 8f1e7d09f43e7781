/* Does a command install packages? Pure: argv is all that is looked at. What is not recognised is
 * an ordinary run, which harms nobody: what it writes into locked trees is thrown away and said. */
#ifndef SBOX_PROJECT_INSTALL_VERB_H
#define SBOX_PROJECT_INSTALL_VERB_H

enum sbox_install_verb {
    SBOX_INSTALL_VERB_NONE,
    SBOX_INSTALL_VERB_CHANGE,  /* npm install, pip uninstall ...: changes the tree that is there */
    SBOX_INSTALL_VERB_REPLACE, /* npm ci: removes the tree first, so it does not matter what it is
                                */
};

/* argv[0] counts by its last component; global options may stand before the verb. */
enum sbox_install_verb sbox_install_verb(char *const argv[]);

/* The package manager behind argv ("npm", "pip", "uv" ...; `python -m pip` is pip); NULL when it is
 * none that is known. Static. */
const char *sbox_install_program(char *const argv[]);

#endif
