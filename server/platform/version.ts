/** The version of this program, for logs, metrics, heartbeats and `svcadmin status`. A test compares it with package.json. */
export const version = '0.8.0';
