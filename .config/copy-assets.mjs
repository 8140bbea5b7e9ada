// tsc emits code only: this puts beside it the page templates and style sheets, the guides, and the manifest of the commands,
// with which svcadmin starts without loading them all.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { settings } from '@oclif/core';

for (const pages of ['server/verification/pages/templates', 'server/admin/pages', 'server/demo/pages', 'server/guides/pages', 'server/portal/pages']) {
  cpSync(pages, `dist/${pages}`, { recursive: true, filter: (path) => !path.endsWith('.ts') });
}

// The guides that a server shows at /docs/guides.
cpSync('docs', 'dist/docs', { recursive: true, filter: (path) => path === 'docs' || path.endsWith('.md') });

const manifest = 'dist/cli/oclif.manifest.json';
rmSync(manifest, { force: true });
settings.enableAutoTranspile = false;
const { loadConfig } = await import('../dist/cli/config.js');
const config = await loadConfig();
writeFileSync(manifest, JSON.stringify(config.plugins.get(config.name).manifest));
