// tsc emits code only: this puts beside it the page templates and style sheets, the documentation site, and the manifest of the commands,
// with which svcadmin starts without loading them all.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { settings } from '@oclif/core';

for (const pages of ['server/verification/pages/templates', 'server/admin/pages', 'server/demo/pages', 'server/portal/pages', 'server/status/pages']) {
  cpSync(pages, `dist/${pages}`, { recursive: true, filter: (path) => !path.endsWith('.ts') });
}

// The documentation site, which a server shows at /docs.
await import('./site/build.mjs');

const manifest = 'dist/cli/oclif.manifest.json';
rmSync(manifest, { force: true });
settings.enableAutoTranspile = false;
const { loadConfig } = await import('../dist/cli/program/config.js');
const config = await loadConfig();
writeFileSync(manifest, JSON.stringify(config.plugins.get(config.name).manifest));
