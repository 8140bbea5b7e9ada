// tsc emits code only: this puts the page templates and style sheets beside it.
import { cpSync } from 'node:fs';

for (const pages of ['server/verification/pages', 'server/demo/pages']) {
  cpSync(pages, `dist/${pages}`, { recursive: true, filter: (path) => !path.endsWith('.ts') });
}
