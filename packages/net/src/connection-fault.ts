/**
 * Returns the innermost error, which has the actual reason. An AggregateError has one error for each address that was
 * tried.
 */
export function findInnermostError(error: unknown): { code: string; message: string } {
  let current = error;
  let found = { code: "", message: String(error) };
  for (let depth = 0; depth < 8 && current instanceof Error; depth += 1) {
    const code: unknown = "code" in current ? current.code : undefined;
    const message = current.message || found.message;
    found = { code: typeof code === "string" ? code : found.code, message };
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return found;
}

/** Explains the codes and messages of failed TLS connections and says what to do. `PLACE` stands for the host. */
const TLS_FAULTS: readonly (readonly [fault: RegExp, words: string])[] = [
  [
    /^CERT_HAS_EXPIRED/,
    "the certificate of PLACE has expired: check the date of this computer, or ask who runs the server",
  ],
  [/^CERT_NOT_YET_VALID/, "the certificate of PLACE is not valid yet: check the date of this computer"],
  [/^ERR_TLS_CERT_ALTNAME/, "the certificate of PLACE is for another host: check the address"],
  [
    /^\S*(?:CERT_REVOKED|CERTIFICATE_REQUIRED)/,
    "PLACE and this computer do not accept each other's certificates: ask who runs the server",
  ],
  [
    /^\S*(?:CERT|ERR_TLS|UNABLE_TO_|SELF_SIGNED)/,
    "its certificate is not trusted: if PLACE is who it says, name the authority that signed it in NODE_EXTRA_CA_CERTS",
  ],
  [
    /^(?:EPROTO|ERR_SSL).*(?:wrong.version.number|packet.length.too.long|http.request)/is,
    "PLACE does not speak TLS: if it is a plain server, the address must start with http://",
  ],
  [/^(?:EPROTO|ERR_SSL)/, "PLACE and this computer have no version of TLS in common"],
];

/** Explains why a TLS connection failed; undefined if the error has another cause. */
export function describeTlsFault({ code, message }: { code: string; message: string }, place: string) {
  return TLS_FAULTS.find(([fault]) => fault.test(`${code} ${message}`))?.[1].replace("PLACE", place);
}
