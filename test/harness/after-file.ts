import { afterAll } from 'vitest';
import { removeTemporaryFolders } from './temporary-folder.ts';

// Registered before the hooks of the file, and so called after them.
afterAll(removeTemporaryFolders);
