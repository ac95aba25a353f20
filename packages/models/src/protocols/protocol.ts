import type { CallsInText, ModelPrice, ModelProvider } from "@burin/contract/settings/settings";
import type { Signer } from "../keys/aws-signature.ts";
import type { CertificateSource } from "../keys/key-source.ts";
import type { ReplyReader, ReplyTo } from "../replies/reply-reader.ts";
import type { MediaSupport, PreparedRequest, Tuning } from "../request/prepare-request.ts";
import type { Quirks } from "../request/quirks.ts";

/** A model at a service, in any protocol. */
export interface ServiceOptions {
  /** The service's name for the model. */
  readonly name: string;
  /**
   * The address before the part that the protocol defines; it usually ends in a version, as in `/v1`. What follows
   * a `?` is sent with every request.
   */
  readonly baseUrl: string;
  /** The key, or a function that returns it, which is called again when the service has refused the last key. */
  readonly apiKey?: string | ((isRefused: boolean) => Promise<string>) | undefined;
  /** The variable that holds the key, for messages. */
  readonly keyFrom?: string | undefined;
  /** The header for the key if it is not the protocol's own; `authorization` means a bearer token. */
  readonly keyHeader?: string | undefined;
  /** Signs each request if no key is sent. */
  readonly signer?: (() => Promise<Signer>) | undefined;
  readonly certificate?: CertificateSource | undefined;
  /** Headers that are sent with each request; they replace the protocol's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** False: the model accepts no images, and gets a description instead. */
  readonly images?: boolean | undefined;
  /** False: the model is offered no tools. */
  readonly tools?: boolean | undefined;
  readonly tuning?: Tuning | undefined;
  /** The model's price, unless the service reports the cost itself. */
  readonly price?: ModelPrice | undefined;
  /** The environment, which may name a proxy. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** How long the service may be silent, in milliseconds. */
  readonly silenceMs?: number | undefined;
  /** Whether calls in the model's text are run. */
  readonly callsInText?: CallsInText | undefined;
}

export interface Protocol extends MediaSupport {
  readonly name: ModelProvider;
  /** The path above `models`, from the path of the base URL without slashes at its end. */
  root(basePath: string): string;
  /** The path of a request. */
  path(root: string, model: string): string;
  readonly query?: string;
  readonly keyHeader: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Returns the body in pieces. The body of a longer conversation begins with the same pieces, if the protocol allows
   * it.
   */
  body(
    model: string,
    request: PreparedRequest,
    quirks: Quirks,
  ): readonly string[] | Promise<readonly string[]>;
  /** Called after the request was sent; the reader's code is loaded only then. */
  reply(to: ReplyTo): Promise<ReplyReader>;
  /** Returns the protocol for a model that refuses this one. */
  otherwise?(): Promise<Protocol>;
}
