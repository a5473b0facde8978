"""How others reach the service: they translate, no rule lives here."""
