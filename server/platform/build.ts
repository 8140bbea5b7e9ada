/** What this process runs, in `svcadmin status` and in its own heartbeats. */
export const version = '0.8.0';
