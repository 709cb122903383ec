"""Values of requests: parsers of texts, and preparation of launches and studies."""
