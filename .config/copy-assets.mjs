// tsc emits code only: this puts the page templates and style sheets beside it.
import { cpSync } from 'node:fs';

const pages = 'server/verification/pages';
cpSync(pages, `dist/${pages}`, { recursive: true, filter: (path) => !path.endsWith('.ts') });
