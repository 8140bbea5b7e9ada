/** Import rules besides the floors of server/, which `.config/floors.json` lists and `layout.mjs` checks. */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'contracts-import-zod-only',
      severity: 'error',
      from: { path: '^contracts/' },
      to: { pathNot: '^contracts/|^node_modules/zod/' },
    },
    {
      name: 'the-identity-wallet-needs-four-files-of-platform',
      severity: 'error',
      from: { path: '^server/identity-wallet/' },
      to: {
        path: '^server/|^cli/',
        pathNot: ['^server/identity-wallet/', '^server/platform/(errors|ids|leeway|telemetry/logging)\\.ts$'],
      },
    },
    {
      // Its pages and its browser code are a client of the admin API, as the command line is.
      name: 'the-portal-imports-members-platform-contracts-and-one-type',
      severity: 'error',
      from: { path: '^server/console/portal/' },
      to: {
        path: '^(server|cli|embedded-database)/',
        pathNot: [
          '^server/(console/portal|partners/members|platform)/',
          '^server/operations/admin-router\\.ts$',
        ],
      },
    },
    {
      name: 'the-portal-takes-only-types-from-operations',
      severity: 'error',
      from: { path: '^server/console/portal/' },
      to: { path: '^server/operations/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-the-app-knows-the-portal',
      severity: 'error',
      from: {
        path: '^(server|cli|embedded-database|contracts)/',
        pathNot: '^server/(console/|process/app\\.ts$)',
      },
      to: { path: '^server/console/portal/' },
    },
    {
      name: 'only-admin-procedures-know-the-admin-api',
      severity: 'error',
      from: {
        path: '^server/(partners|webhooks|billing|sessions|people|pages|api)/',
        pathNot: '/admin[a-z-]*\\.ts$',
      },
      to: { path: '^server/platform/admin-api/', pathNot: '/(changed-list|view)\\.ts$' },
    },
    {
      name: 'the-embedded-database-stands-apart',
      severity: 'error',
      from: { path: '^embedded-database/' },
      to: { path: '^(server|cli|contracts)/' },
    },
    {
      name: 'only-databases-and-backup-load-the-embedded-database',
      severity: 'error',
      from: {
        path: '^(server|cli|contracts)/',
        pathNot: '^server/process/(database-parts|backup/backup)\\.ts$',
      },
      to: { path: '^embedded-database/' },
    },
    {
      name: 'only-stores-and-platform-touch-the-database',
      severity: 'error',
      from: { path: '^server/', pathNot: '^server/platform/|[a-z-]*stores?\\.ts$' },
      to: { path: '^node_modules/(mongodb|agenda|@agendajs)/' },
    },
    {
      name: 'cli-knows-contracts-only',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: '^server/', pathNot: '^server/operations/admin-router\\.ts$' },
    },
    {
      name: 'cli-takes-only-types-from-the-server',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: '^server/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'the-demo-is-a-partner-like-any-other',
      severity: 'error',
      from: { path: '^server/demo/' },
      to: {
        path: '^(server|contracts|cli|embedded-database)/',
        pathNot: '^server/demo/',
      },
    },
    {
      name: 'the-sdk-stands-apart-and-has-no-dependency',
      severity: 'error',
      from: { path: '^sdk/' },
      to: { pathNot: '^sdk/typescript/src/' },
    },
    {
      // `svc trigger flow` is a partner's tool: it walks the hosted pages by the driver that partners have.
      name: 'product-code-knows-no-sdk',
      severity: 'error',
      from: { path: '^(server|cli|contracts|embedded-database)/', pathNot: '^cli/svc/commands/trigger\\.ts$' },
      to: { path: '^sdk/' },
    },
    {
      name: 'product-code-knows-no-tests',
      severity: 'error',
      from: { path: '^(server|cli|contracts|embedded-database)/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'every-import-resolves',
      severity: 'error',
      // The bench has packages of its own, and its compiler check resolves them.
      from: { pathNot: '^bench/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
