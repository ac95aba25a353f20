import ipaddr from "ipaddr.js";

/**
 * What kind of host an address belongs to. `private`: this machine or its own network, which the user must allow.
 * `never`: metadata services, link-local and special ranges, which serve no pages.
 */
export type AddressReach = "public" | "private" | "never";

type Address = ReturnType<typeof ipaddr.parse>;

const PRIVATE_RANGES = new Set(["loopback", "private", "uniqueLocal", "carrierGradeNat"]);

/**
 * Some networks return such placeholder addresses from DNS and forward the connection. They belong to no other host.
 */
const STAND_IN_RANGES = ["198.18.0.0/15", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"].map((range) =>
  ipaddr.parseCIDR(range),
);

/** Cloud metadata services; not all of them are in special ranges. */
const METADATA = new Set(
  [
    ...["169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192"],
    ...["168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd00:42::42", "fd20:ce::254"],
  ].map((address) => ipaddr.parse(address).toNormalizedString()),
);

/** Every IPv6 address that is routed on the internet is in this range, whatever is reserved later. */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");
const RESERVED_RANGES = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].map((range) =>
  ipaddr.parseCIDR(range),
);
/** The only translation prefix that a public name server may return. */
const NAT64 = ipaddr.parseCIDR("64:ff9b::/96");

/** Classifies an address in any spelling. An address that embeds another one is classified by the embedded one. */
export function classifyAddress(text: string): AddressReach {
  if (!ipaddr.isValid(text)) return "never";
  const address = unwrapAddress(ipaddr.parse(text));
  if (METADATA.has(address.toNormalizedString())) return "never";
  const range: string = address.range();
  if (PRIVATE_RANGES.has(range)) return "private";
  if (address.kind() === "ipv4") {
    if (range === "unicast") return "public";
    return STAND_IN_RANGES.some((range) => isInRange(address, range)) ? "private" : "never";
  }
  const isPublic =
    isInRange(address, GLOBAL_UNICAST) &&
    !RESERVED_RANGES.some((aside) => isInRange(address, aside)) &&
    !isIsatapAddress(address);
  return isPublic ? "public" : "never";
}

function unwrapAddress(address: Address): Address {
  if (address.kind() === "ipv4") return address;
  const isMapped = address.range() === "ipv4Mapped";
  return isMapped || isInRange(address, NAT64)
    ? ipaddr.fromByteArray(address.toByteArray().slice(12))
    : address;
}

/** ISATAP: an internet address whose last four bytes name a machine of the internal network. */
function isIsatapAddress(address: Address): boolean {
  const [first, second, third, fourth] = address.toByteArray().slice(8);
  return ((first ?? 0) & ~2) === 0 && second === 0 && third === 0x5e && fourth === 0xfe;
}

function isInRange(address: Address, range: ReturnType<typeof ipaddr.parseCIDR>): boolean {
  return address.kind() === range[0].kind() && address.match(range);
}
