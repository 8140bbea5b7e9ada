// biome-ignore-all format: a table reads better by its groups than one item a line
/** Addresses that no webhook may reach: both ends of each special-purpose range of IPv4 and IPv6. */
export const forbiddenAddresses = [
  // this network, private, shared, loopback, link local
  '0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255', '127.0.0.1',
  '127.255.255.255', '169.254.0.0', '169.254.169.254', '169.254.255.255', '172.16.0.0', '172.31.255.255',
  '192.168.0.0', '192.168.255.255',
  // protocol assignments, documentation, relays, benchmarking
  '192.0.0.0', '192.0.0.8', '192.0.0.170', '192.0.0.192', '192.0.0.255', '192.0.2.1', '192.31.196.1',
  '192.52.193.1', '192.88.99.1', '192.175.48.1', '198.18.0.0', '198.19.255.255', '198.51.100.1', '203.0.113.1',
  // multicast, reserved, broadcast, and Azure's internal address
  '224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.254', '255.255.255.255', '168.63.129.16',
  // unspecified, loopback, with IPv4 inside: mapped, compatible, translated
  '::', '::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:169.254.169.254', '::ffff:8.8.8.8', '::127.0.0.1',
  '::8.8.8.8', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1', '2002:7f00:1::1',
  '2002:808:808::1', '2001::1', '2001:0:7f00:1::1',
  // discard, protocol assignments, documentation, segment routing, unique local, link local, site local, multicast
  '100::1', '100:0:0:1::1', '2001:1::1', '2001:2::1', '2001:3::1', '2001:4:112::1', '2001:10::1', '2001:20::1',
  '2001:30::1', '2001:1ff:ffff::1', '2001:db8::1', '2620:4f:8000::1', '3fff::1', '3fff:fff::1', '5f00::1',
  'fc00::1', 'fd00:ec2::254', 'fdff:ffff::1', 'fe80::1', 'febf::1', 'fec0::1', 'feff::1', 'ff00::1', 'ff02::1',
  // outside the ranges that IANA has allocated
  '200::1', '400::1', '1000::1', '4000::1', '8000::1', 'c000::1', 'e000::1',
  // not Internet addresses
  'fe80::1%eth0', '2606:4700::1111%1', 'localhost', '1.2.3', '',
];

export const publicAddresses = [
  '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255',
  '128.0.0.1', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.167.255.255',
  '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255', '168.63.129.15', '168.63.129.17',
  '2001:200::1', '2001:4860:4860::8888', '2003::1', '2606:4700:4700::1111', '2a00:1450::1', '3ffe:ffff::1',
];

/** URLs that are refused for live and test keys. */
export const forbiddenUrls = [
  // literal addresses in any notation
  'https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f000001/', 'https://0x7f.1/',
  'https://0177.0.0.1/', 'https://017700000001/', 'https://127.0.0.1./', 'https://１２７.0.0.1/', 'https://0/',
  'https://10.0.0.1/', 'https://0xa9fea9fe/', 'https://169.254.169.254/latest/meta-data/', 'https://168.63.129.16/',
  'https://[::1]/', 'https://[::]/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/', 'https://[fe80::1%25eth0]/', 'https://[fe80::1]/', 'https://[fd00:ec2::254]/',
  'https://[2002:7f00:1::]/', 'https://[::127.0.0.1]/',
  // localhost by other names
  'https://localhost/', 'https://app.localhost/', 'https://LOCALHOST:8443/', 'http://localhost./',
  'http://127.0.0.1:3000/', 'http://[::1]:3000/', 'http://localhost.example.com/', 'http://localhost@example.com/',
  'https://intranet/', 'https://intranet./',
  // userinfo, ports, schemes, fragments, and text that parsers read differently
  'https://user@example.com/', 'https://user:secret@example.com/', 'https://@example.com/', 'https://:@example.com/',
  'https://example.com:22/', 'https://example.com:25/', 'https://example.com:80/', 'https://example.com:0/',
  'https://example.com:6379@10.0.0.1/', 'https://example.com:6667/', 'https://example.com:65536/',
  'http://example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'javascript:alert(1)',
  'https://example.com/#top', 'https://example.com\\@10.0.0.1/', 'https://exa\tmple.com/', ' https://example.com/',
  'https://example.com/a b', 'https://example.com/\u0000', '//example.com/', 'example.com', '', 'https://',
  `https://example.com/${'a'.repeat(2048)}`,
];

export const allowedUrls = [
  'https://example.com', 'https://example.com/hooks?partner=1', 'https://hooks.example.com:8443/', 'https://1.1.1.1/',
  'https://[2606:4700:4700::1111]/', 'https://xn--bcher-kva.example/', 'https://example.com:443/',
];
