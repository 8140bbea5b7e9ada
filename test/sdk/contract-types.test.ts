import { describe, it } from 'vitest';
import { expectGenerated } from '../contract/generated.ts';
import { renderTypeScript } from './typescript-types.ts';

describe('the types of the client libraries', () => {
  it('of TypeScript are those of the contract', () =>
    expectGenerated('sdk/typescript/src/contract.ts', renderTypeScript()));
});
