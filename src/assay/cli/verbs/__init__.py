"""One module for each verb; imported only when the verb is used."""
