# tessera_embed(TARGET NAME FILE...): makes the files' bytes part of TARGET.
