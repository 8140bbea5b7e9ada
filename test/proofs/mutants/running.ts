import { inFile } from './mutation.ts';

/** Mutations of a process's use of its database: refused writes, readiness, the start. */
export const running = [
  ...inFile(
    'server/platform/database/failures.ts',
    ['platform/refused-writes', 'platform/database/connect'],
    [
      ["  [13, 'Unauthorized'],\n", ''],
      ["  [8000, 'AtlasError'], // such as a quota that is used up\n", ''],
      ['isUnavailable(error) && !refusedWriteCodes.has(error.code)', 'false'],
    ],
  ),
  ...inFile(
    'server/billing/ledger/page-insert.ts',
    ['platform/refused-writes'],
    [['if (isCommandRefused(error)) return drafts.map(() => error as Error);', '']],
  ),
  ...inFile(
    'server/platform/http/endpoints/readiness.ts',
    ['platform/refused-writes', 'platform/index-builds'],
    [
      ['if (fault === undefined) return [];', 'return [];'],
      ["return step === undefined ? undefined : { obstacle: 'starting', text: step };", 'return undefined;'],
    ],
  ),
  ...inFile(
    'server/platform/database/write-probe.ts',
    ['platform/database/write-probe'],
    [
      ['if (!fresh && last && uptime() < last.until) return last.fault;', ''],
      ['inFlight ??= tryWrite();', 'inFlight = tryWrite();'],
    ],
  ),
  ...inFile(
    'server/process/lifecycle.ts',
    ['platform/index-builds'],
    [["return step === undefined ? undefined : 'This process is starting';", 'return undefined;']],
  ),
  ...inFile(
    'server/platform/database/schema/indexes.ts',
    ['platform/database/indexes', 'platform/index-builds'],
    [
      ['if (unique.length > 0) await', 'if (unique.length > 99) await'],
      ['if (!isUnavailable(error)) throw error;\n      const fault', 'throw error;\n      const fault'],
    ],
  ),
  ...inFile(
    'server/platform/database/connect.ts',
    ['platform/database/connect'],
    [
      ['if (wireVersion >= oldest.wireVersion) return;', 'return;'],
      ["if (wanted === 'true' && !isSupported) {", 'if (false) {'],
      ['replicated\n    ? {', 'retryableWrites\n    ? {'],
    ],
  ),
  ...inFile(
    'server/platform/database/schema/schema.ts',
    ['platform/database/schema'],
    [['refusal?.code === duplicateKey && refusal.keyPattern === undefined', 'false']],
  ),
];
