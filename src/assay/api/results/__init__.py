"""Results of studies: documents, sentences, tables and pictures."""
