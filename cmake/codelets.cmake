# tessera_codelets(TARGET FILE...): compiles tile code for the tile ISA and embeds it in TARGET.
