// biome-ignore-all format: a table reads better by its groups than one item a line
type Vector = readonly [shown: string, kind: string, value: string];

/** Lists each value with its kind, and with a short form of it for the title of a test. */
const listed = (kinds: Record<string, readonly string[]>): Vector[] =>
  Object.entries(kinds).flatMap(([kind, values]) =>
    values.map((value): Vector => [value.length > 60 ? `${value.slice(0, 30)}…` : JSON.stringify(value), kind, value]),
  );

/** Addresses that no webhook may reach: both ends of each special-purpose range of IPv4 and IPv6. */
export const forbiddenAddresses = listed({
  'this network': ['0.0.0.0', '0.255.255.255'],
  'private': ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  'shared by customers of a carrier': ['100.64.0.0', '100.127.255.255'],
  'loopback': ['127.0.0.1', '127.255.255.255', '::1'],
  'link-local': ['169.254.0.0', '169.254.255.255', 'fe80::1', 'febf::1'],
  'metadata of a cloud machine': ['169.254.169.254', '168.63.129.16', 'fd00:ec2::254'],
  'protocol assignment': [
    '192.0.0.0', '192.0.0.8', '192.0.0.170', '192.0.0.192', '192.0.0.255', '2001:1::1', '2001:2::1', '2001:3::1',
    '2001:10::1', '2001:20::1', '2001:30::1', '2001:1ff:ffff::1',
  ],
  'documentation': ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  'AS112 name servers': ['192.31.196.1', '192.175.48.1', '2001:4:112::1', '2620:4f:8000::1'],
  'relay': ['192.52.193.1', '192.88.99.1'],
  'benchmarking': ['198.18.0.0', '198.19.255.255'],
  'multicast': ['224.0.0.0', '239.255.255.255', 'ff00::1', 'ff02::1'],
  'reserved': ['240.0.0.0', '255.255.255.254'],
  'broadcast': ['255.255.255.255'],
  'unspecified': ['::'],
  'IPv4 inside IPv6, mapped': ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '::ffff:8.8.8.8'],
  'IPv4 inside IPv6, compatible': ['::127.0.0.1', '::8.8.8.8'],
  'IPv4 inside IPv6, translated': ['::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1'],
  'IPv4 inside IPv6, 6to4': ['2002:7f00:1::1', '2002:808:808::1'],
  'IPv4 inside IPv6, Teredo': ['2001::1', '2001:0:7f00:1::1'],
  'discarded': ['100::1', '100:0:0:1::1'],
  'segment routing': ['5f00::1'],
  'unique local': ['fc00::1', 'fdff:ffff::1'],
  'site-local': ['fec0::1', 'feff::1'],
  'not allocated by IANA': ['200::1', '400::1', '1000::1', '4000::1', '8000::1', 'c000::1', 'e000::1'],
  'with a zone': ['fe80::1%eth0', '2606:4700::1111%1'],
  'no IP address': ['localhost', '1.2.3', ''],
});

export const publicAddresses = [
  '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255',
  '128.0.0.1', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.167.255.255',
  '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255', '168.63.129.15', '168.63.129.17',
  '2001:200::1', '2001:4860:4860::8888', '2003::1', '2606:4700:4700::1111', '2a00:1450::1', '3ffe:ffff::1',
];

/** URLs that are refused for live and test keys. */
export const forbiddenUrls = listed({
  'a loopback address': [
    'https://127.0.0.1/', 'https://127.0.0.1./', 'https://[::1]/', 'http://127.0.0.1:3000/', 'http://[::1]:3000/',
  ],
  'a loopback address in another notation': [
    'https://127.1/', 'https://2130706433/', 'https://0x7f000001/', 'https://0x7f.1/', 'https://0177.0.0.1/',
    'https://017700000001/', 'https://１２７.0.0.1/',
  ],
  'an unspecified address': ['https://0/', 'https://[::]/'],
  'a private address': ['https://10.0.0.1/'],
  'an address for the metadata of a cloud machine': [
    'https://0xa9fea9fe/', 'https://169.254.169.254/latest/meta-data/', 'https://168.63.129.16/',
    'https://[fd00:ec2::254]/',
  ],
  'an IPv6 address with an IPv4 address inside': [
    'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/', 'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/', 'https://[::127.0.0.1]/',
  ],
  'a link-local address': ['https://[fe80::1%25eth0]/', 'https://[fe80::1]/'],
  'a name of this machine': [
    'https://localhost/', 'https://app.localhost/', 'https://LOCALHOST:8443/', 'http://localhost./',
  ],
  'http to a host that looks like localhost': ['http://localhost.example.com/', 'http://localhost@example.com/'],
  'a host without a domain': ['https://intranet/', 'https://intranet./'],
  'a user name or password': [
    'https://user@example.com/', 'https://user:secret@example.com/', 'https://@example.com/', 'https://:@example.com/',
    'https://example.com:6379@10.0.0.1/',
  ],
  'a port of another protocol': [
    'https://example.com:22/', 'https://example.com:25/', 'https://example.com:80/', 'https://example.com:6667/',
  ],
  'an impossible port': ['https://example.com:0/', 'https://example.com:65536/'],
  'another scheme than https': [
    'http://example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'javascript:alert(1)',
  ],
  'a fragment': ['https://example.com/#top'],
  'a character that parsers read differently': [
    'https://example.com\\@10.0.0.1/', 'https://exa\tmple.com/', ' https://example.com/', 'https://example.com/a b',
    'https://example.com/\u0000',
  ],
  'no scheme or no host': ['//example.com/', 'example.com', '', 'https://'],
  'more than 2,048 characters': [`https://example.com/${'a'.repeat(2048)}`],
});

export const allowedUrls = [
  'https://example.com', 'https://example.com/hooks?partner=1', 'https://hooks.example.com:8443/', 'https://1.1.1.1/',
  'https://[2606:4700:4700::1111]/', 'https://xn--bcher-kva.example/', 'https://example.com:443/',
];
