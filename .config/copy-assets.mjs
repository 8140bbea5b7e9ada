// tsc emits code only: this puts beside it the page templates and style sheets, the documentation site, and the manifests of the commands,
// with which svcadmin and svc start without loading them all.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { settings } from '@oclif/core';

for (const pages of ['server/pages/templates', 'server/demo/pages', 'server/console/portal/pages', 'server/operations/service-status']) {
  cpSync(pages, `dist/${pages}`, { recursive: true, filter: (path) => !path.endsWith('.ts') });
}

// The documentation site, which a server shows at /docs.
await import('./site/build.mjs');

settings.enableAutoTranspile = false;
const { loadConfig } = await import('../dist/cli/program/config.js');
for (const [program, directory] of [['svcadmin', 'dist/cli'], ['svc', 'dist/cli/svc']]) {
  const manifest = `${directory}/oclif.manifest.json`;
  rmSync(manifest, { force: true });
  const config = await loadConfig(program);
  writeFileSync(manifest, JSON.stringify(config.plugins.get(config.name).manifest));
}
