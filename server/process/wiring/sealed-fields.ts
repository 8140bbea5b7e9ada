import { sealedFields as integrationSecrets } from '../../partners/integrations/integration-store.ts';
import { sealedFields as webhookSecrets } from '../../partners/keys/key-store.ts';
import { sealedFields as keys } from '../../platform/keys/keyring.ts';
import type { SealedField } from '../../platform/keys/sealed-values.ts';

/** Every field that contains a value encrypted with the master key. A test compares the list with a database after traffic. */
export const sealedFields: readonly SealedField[] = [...keys, ...webhookSecrets, ...integrationSecrets];
