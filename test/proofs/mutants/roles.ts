import { inFile } from './mutation.ts';

/** Mutations of operators' permissions and audit entries. */
export const roles = [
  ...inFile(
    'server/platform/admin-api/roles.ts',
    ['operations/permissions'],
    [
      ["'wallets.fund': { support: 'test' }", "'wallets.fund': support"],
      ["'users.erase': ownersOnly", "'users.erase': support"],
      ["'wallets.refund': ownersOnly", "'wallets.refund': ops"],
      ["'operators.create': ownersOnly", "'operators.create': ops"],
      ['permissions[path]?.[role]', '(permissions[path] ?? everyRole)[role]'],
      [" && input.mode === 'test';", ';'],
      ["'/ops': ops,", "'/ops': everyRole,"],
    ],
  ),
  ...inFile(
    'server/platform/admin-api/procedures.ts',
    ['operations/permissions', 'operations/audit-log'],
    [
      ['.use(permitted)', ''],
      ['ctx.isDryRun && result.ok ? undefined : meta?.audit', 'undefined'],
      [
        "ctx.isDryRun && type === 'mutation' && !dryRunnable",
        "ctx.isDryRun && type === 'query' && !dryRunnable",
      ],
    ],
  ),
  ...inFile(
    'server/platform/admin-api/personal-data.ts',
    ['operations/personal-data'],
    [
      ["role !== 'ops'", "role === 'ops' || role !== 'ops'"],
      ["read.modes.includes('live') && read.reason === undefined", 'read.modes.length > 9'],
      ['await record?.(actor, { ...read, modes: [...new Set(read.modes)] });', ''],
      ['{ ...record, sub: masked }', 'record'],
    ],
  ),
  ...inFile(
    'server/webhooks/operators/admin-personal-data.ts',
    ['operations/personal-data'],
    [
      ["if (name === 'user_id') return masked;", ''],
      ["name === 'claims' ? maskedValues(value) : value", 'value'],
      ['event.sub === undefined ? {} : { sub: masked }', '{}'],
      ['personal.test(answer) ||', ''],
    ],
  ),
  ...inFile(
    'server/operations/audit/audit-log.ts',
    ['operations/personal-data'],
    [['if (!seesPeople(operator.role))', "if (operator.role === 'owner' && user === '')"]],
  ),
  ...inFile(
    'server/operations/operators/authentication.ts',
    ['operations/database-away'],
    [
      [
        'fromMemory.has(path) ? await readOrRecall(hash) : await readOperator(hash)',
        'await readOrRecall(hash)',
      ],
      ['else remembered.delete(hash);', ''],
      ['if (recalled) return recalled;', ''],
    ],
  ),
  ...inFile(
    'server/platform/database/reads/remembered-read.ts',
    ['operations/database-away'],
    [
      ['if (databaseFault() === undefined) await refresh();', 'await refresh();'],
      ['away: databaseFault() ?? readFault', 'away: databaseFault()'],
      ['      readFault = undefined;\n', ''],
    ],
  ),
  ...inFile(
    'server/platform/database/availability.ts',
    ['platform/database/availability'],
    [['since: fault?.since ?? new Date(now())', 'since: new Date(now())']],
  ),
  ...inFile(
    'server/console/ops/ops-routes.ts',
    ['operations/permissions'],
    [['if (!mayCall(role, page, undefined)) throw', "if (role === 'support' && page === '') throw"]],
  ),
  ...inFile(
    'server/operations/operators/operators.ts',
    ['operations/operators'],
    [['if (operatorId === actor.operatorId) {', "if (operatorId === '') {"]],
  ),
  ...inFile(
    'server/partners/admin-partners.ts',
    ['operations/audit-changes'],
    [['set: { prices: after }, before, after', 'set: { prices: after }, after']],
  ),
];
