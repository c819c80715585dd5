"""The SQL that makes the role of requests and workers, before any table exists (values for the first migration)."""

CREATE_ROLE = """
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'countersign_app') THEN
        CREATE ROLE countersign_app NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of this server was set up at the same moment
END $$;
"""
# Only whoever is not yet a member needs the grant: two databases set up at once must not collide on it.
JOIN_ROLE = """
DO $$
BEGIN
    -- Creating a role makes its creator a member with ADMIN only (Postgres 16+), which may not SET ROLE yet.
    IF NOT pg_has_role(current_user, 'countersign_app', 'USAGE') THEN
        EXECUTE format('GRANT countersign_app TO %I', current_user);
    END IF;
END $$;
"""
GRANTS = [
    "GRANT USAGE ON SCHEMA public TO countersign_app",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO countersign_app",
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO countersign_app",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO countersign_app",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO countersign_app",
    # Which migrations ran is the owner's to say.
    "REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM countersign_app",
]
