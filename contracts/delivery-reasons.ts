/**
 * Why a delivery is not sent, as texts that follow "it was skipped:". This file imports nothing, so that the command line starts
 * without zod.
 */
export const skipReasons = {
  no_url: 'the key had no webhook URL',
  key_revoked: 'the key was revoked',
  partner_suspended: 'the partner was suspended',
  partner_closed: 'the partner was closed',
  localhost_not_allowed: 'its URL is on localhost, which this server does not send to',
  other_host: 'it was to go to another host than that of the webhook URL of its live key',
  cancelled: 'an operator cancelled it',
} as const;

/** Why a due attempt has not been sent yet, as texts that follow "it waits:". */
export const waitReasons = {
  paused: 'the webhooks of its key are paused',
  endpoint_busy: 'as many attempts to its URL are under way as one process makes at a time',
  server_busy: 'as many attempts are under way as one process makes at a time',
  secret_unreadable:
    'its signing secret cannot be opened: a worker lacks the master key, or the stored secret was altered',
  endpoint_unreadable: 'its webhook URL and secret could not be read from the database',
  no_worker: 'no process with the worker role is running',
  not_taken_up: 'no process with the worker role has taken it up',
} as const;
