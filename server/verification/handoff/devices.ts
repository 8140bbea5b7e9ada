/** What a person may recognise their own device by; names of products, the same in every language. */
export interface DeviceName {
  browser?: string;
  system?: string;
}

/** No pattern has a repetition in it: headers are untrusted text. */
type Rule = readonly [patterns: readonly RegExp[], name: string];

/** The first that fits: most browsers also claim to be those further down. */
const browsers: readonly Rule[] = [
  [[/\bEdg(A|iOS)?\//], 'Edge'],
  [[/\bOPR\//], 'Opera'],
  [[/\bSamsungBrowser\//], 'Samsung Internet'],
  [[/\b(Firefox|FxiOS)\//], 'Firefox'],
  [[/\b(Chrome|CriOS|HeadlessChrome)\//], 'Chrome'],
  [[/\bVersion\//, /\bSafari\//], 'Safari'],
];
const systems: readonly Rule[] = [
  [[/\biPhone\b/], 'iPhone'],
  [[/\biPad\b/], 'iPad'],
  [[/\bAndroid\b/], 'Android'],
  [[/\bWindows\b/], 'Windows'],
  [[/\bCrOS\b/], 'ChromeOS'],
  [[/\bMac OS X\b/], 'macOS'],
  [[/\bLinux\b/], 'Linux'],
];

const phones: readonly Rule[] = [
  [[/\biPhone\b/], 'iPhone'],
  [[/\bMobile\b/, /\b(Android|Firefox)\b/], 'another'],
];

const firstOf = (rules: readonly Rule[], text: string) =>
  rules.find(([patterns]) => patterns.every((pattern) => pattern.test(text)))?.[1];

/** By `User-Agent`, which a caller can make up: good for telling devices apart, not for trust. */
export function deviceName(userAgent = ''): DeviceName {
  const browser = firstOf(browsers, userAgent);
  const system = firstOf(systems, userAgent);
  return { ...(browser ? { browser } : {}), ...(system ? { system } : {}) };
}

/** Whether this browser is on a phone already. */
export function isPhone(userAgent = ''): boolean {
  return firstOf(phones, userAgent) !== undefined;
}
