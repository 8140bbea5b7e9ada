export type { Callback, Expected } from './callback.ts';
export {
  type Client,
  createClient,
  type Options,
  type Settings,
  settingsFrom,
  type Visit,
  type Wanted,
} from './client.ts';
export type * from './contract.ts';
export * from './errors.ts';
export { type Delivery, type HeaderBag, verifyWebhook, type WebhookSettings } from './webhooks.ts';
