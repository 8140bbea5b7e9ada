/** Of this program: in logs, metrics, heartbeats and `svcadmin status`. The same as in package.json, which a test compares. */
export const version = '0.8.0';
