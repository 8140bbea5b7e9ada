/**
 * The reasons why a delivery is not sent, as texts that follow "it was skipped:". This file imports nothing, so that the command
 * line starts without zod.
 */
export const skipReasons = {
  no_url: 'the key had no webhook URL',
  key_revoked: 'the key was revoked',
  partner_suspended: 'the partner was suspended',
  localhost_not_allowed: 'its URL is on localhost, which this server does not send to',
  cancelled: 'an operator cancelled it',
} as const;
