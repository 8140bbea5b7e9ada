import { inFile } from './mutation.ts';

/** Mutations of `svcadmin`: amounts, times, confirmation, connection, exit codes. */
export const cli = [
  ...inFile(
    'contracts/amounts.ts',
    ['cli/flags/values'],
    [
      ["cents.padEnd(2, '0')", "cents.padStart(2, '0')"],
      ['(sign && !canBeNegative)', '(canBeNegative && !sign)'],
      ['Number(dollars) * 100', 'Number(dollars) * 10'],
      ["cents < 0 ? '-' : ''", "cents < 1 ? '-' : ''"],
    ],
  ),
  ...inFile(
    'cli/flags/durations.ts',
    ['cli/commands/statement-midnight', 'cli/output/output', 'cli/flags/values'],
    [
      ['date === undefined ? Date.parse(full)', 'date !== undefined ? Date.parse(full)'],
      ['isoOf(now - secondsAgo * 1000, text)', 'isoOf(now + secondsAgo * 1000, text)'],
    ],
  ),
  ...inFile(
    'cli/careful/careful-command.ts',
    ['cli/careful/careful'],
    [
      ["if (step === 'refuse') refuseUnattended(intent);", ''],
      ['if (this.isDryRun)', 'if (this.isDryRun && intent.isLive)'],
    ],
  ),
  ...inFile(
    'cli/connection/connection.ts',
    ['cli/connection/connection'],
    [['value: isLocal ? local?.token : undefined,', 'value: local?.token,']],
  ),
  ...inFile(
    'cli/connection/local-server.ts',
    ['cli/connection/connection'],
    [['if (owner !== uid) throw', 'if (uid === -1) throw']],
  ),
  ...inFile(
    'cli/errors/failure.ts',
    ['cli/careful/refusals'],
    [
      ['isErrorCode(code) ? errorTable[code].exit : localExits[code]', 'exits.failure'],
      ['no_token: exits.notAuthorised', 'no_token: exits.failure'],
    ],
  ),
];
