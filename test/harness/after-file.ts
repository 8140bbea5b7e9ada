import { afterAll } from 'vitest';
import { removeTemporaryFolders } from './temporary-folder.ts';

// Vitest calls this hook after the hooks of the test file, because it is registered before them.
afterAll(removeTemporaryFolders);
