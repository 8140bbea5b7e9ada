/** What somebody may recognise their own device by; names of products, the same in every language. */
export interface DeviceName {
  browser?: string;
  system?: string;
}

type Rule = readonly [pattern: RegExp, name: string];

/** The first that fits: most browsers also claim to be those further down. */
const browsers: readonly Rule[] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/\S+ .*Safari\//, 'Safari'],
];
const systems: readonly Rule[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const phones = /\b(iPhone|Android.*Mobile|Mobile.*Firefox)\b/;

const firstOf = (rules: readonly Rule[], text: string) => rules.find(([pattern]) => pattern.test(text))?.[1];

/** By `User-Agent`, which anybody can make up: good for telling devices apart, not for trust. */
export function deviceName(userAgent = ''): DeviceName {
  const browser = firstOf(browsers, userAgent);
  const system = firstOf(systems, userAgent);
  return { ...(browser ? { browser } : {}), ...(system ? { system } : {}) };
}

/** Whether this browser is on a phone already. */
export function isPhone(userAgent = ''): boolean {
  return phones.test(userAgent);
}
