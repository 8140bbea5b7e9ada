/** Product names by which a user can recognise a device. They are the same in every language. */
export interface DeviceName {
  browser?: string;
  system?: string;
}

/**
 * A name, and the patterns that all have to match. The patterns contain no repetition, because headers are untrusted
 * and could make the matching slow.
 */
type Rule = readonly [patterns: readonly RegExp[], name: string];

/** The first match counts: most browsers also name the ones further down. */
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

/** A phone matches all patterns of one of these lists. */
const phones: readonly (readonly RegExp[])[] = [[/\biPhone\b/], [/\bMobile\b/, /\b(Android|Firefox)\b/]];

const matchesAll = (patterns: readonly RegExp[], text: string): boolean =>
  patterns.every((pattern) => pattern.test(text));

const firstMatch = (rules: readonly Rule[], text: string) =>
  rules.find(([patterns]) => matchesAll(patterns, text))?.[1];

/** Reads `User-Agent`, which a caller can forge: the name helps to tell devices apart, and proves nothing. */
export function deviceName(userAgent = ''): DeviceName {
  const browser = firstMatch(browsers, userAgent);
  const system = firstMatch(systems, userAgent);
  return { ...(browser ? { browser } : {}), ...(system ? { system } : {}) };
}

/** Whether this browser is on a phone already. */
export function isPhone(userAgent = ''): boolean {
  return phones.some((patterns) => matchesAll(patterns, userAgent));
}
