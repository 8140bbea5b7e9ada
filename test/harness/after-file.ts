import { afterAll } from 'vitest';
import { removeTemporaryFolders } from './temporary-folder.ts';

// Registered before the file's hooks, and therefore called after them.
afterAll(removeTemporaryFolders);
