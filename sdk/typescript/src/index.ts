export type { Callback, ExpectedState } from './callback.ts';
export {
  type AuthorizationOptions,
  type Client,
  createClient,
  type Options,
  settingsFrom,
  type Visit,
} from './client.ts';
export type * from './contract.ts';
export * from './errors.ts';
export type { Settings } from './input.ts';
export { type Delivery, type HeaderBag, verifyWebhook, type WebhookSettings } from './webhooks.ts';
