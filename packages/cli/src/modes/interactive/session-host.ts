import {
  type AgentEvent,
  type ApprovalMode,
  type ChatModel,
  chooseModel,
  createSession,
  messageOf,
  openModel,
  type Session,
  type SessionOptions,
  type Settings,
} from "@burin/core";
import { type CommonOptions, type Opened, openSettings, sessionOptions } from "../../request/options.ts";

type TakenUp = Pick<SessionOptions, "resume" | "answer">;

/** What the sessions of one run of the screen have in common. */
export interface HostNeeds {
  readonly options: CommonOptions;
  /** Gets events of the current session outside its runs: its questions. */
  readonly hear: (event: AgentEvent) => void;
  readonly closed: () => void;
  readonly tell: (notice: string) => void;
}

/** Opens the current session; switching to an earlier session replaces it. */
export class SessionHost {
  readonly #needs: HostNeeds;
  #options: CommonOptions;
  #opened: Opened | null = null;
  #session: Session | null = null;
  readonly #past: AgentEvent[] = [];
  /** The options before the demo started; null when no demo is running. */
  #beforeDemo: CommonOptions | null = null;

  constructor(needs: HostNeeds) {
    this.#needs = needs;
    this.#options = needs.options;
  }

  get session(): Session | null {
    return this.#session;
  }

  get options(): CommonOptions {
    return this.#options;
  }

  get settings(): Settings | null {
    return this.#opened?.settings ?? null;
  }

  /** The model that will be used; null when none is configured. */
  get modelName(): string | null {
    const { settings } = this;
    return settings && (chooseModel(settings, process.env)?.name ?? null);
  }

  /** Reads the settings again. Throws SettingsError. */
  async readSettings(): Promise<Settings> {
    this.#opened = await openSettings(this.#options);
    for (const notice of this.#opened.notices) this.#needs.tell(notice);
    return this.#opened.settings;
  }

  /** The session to work in, opened with what the command line said; `held` is what it goes on with, where that is held already. */
  async open(held: TakenUp | null = null): Promise<Session> {
    if (this.#opened === null) await this.readSettings();
    const opened = this.#opened as Opened;
    const { session } = this.#options;
    return this.#follow(
      createSession({
        ...sessionOptions(this.#options, opened),
        record: session.kind !== "unrecorded",
        awaitsAnswers: true,
        ...(session.kind === "take-up" ? (held ?? (await this.#takeUp(this.#options))) : {}),
      }),
    );
  }

  /** Returns the events of the resumed session, once. */
  takePast(): readonly AgentEvent[] {
    return this.#past.splice(0);
  }

  async #takeUp(options: CommonOptions): Promise<TakenUp> {
    const { takeUp } = await import("../print/take-up.ts");
    this.#past.splice(0);
    return takeUp(options, (event) => this.#past.push(event));
  }

  get isDemo(): boolean {
    return this.#beforeDemo !== null;
  }

  /** Works in another folder with a scripted model, until another session is opened. */
  async openDemo(root: string, model: ChatModel): Promise<Session> {
    await this.close();
    if (this.#opened === null) await this.readSettings();
    this.#beforeDemo = this.#options;
    this.#options = { ...this.#options, root, session: { kind: "unrecorded" } };
    return this.#follow(
      createSession({ root, model, awaitsAnswers: true, record: false, approvalMode: "plan" }),
    );
  }

  /** Closes the current session and continues in another one: a new or a recorded one. */
  async change(session: CommonOptions["session"]): Promise<Session> {
    const approvalMode: ApprovalMode = this.#session?.approvalMode ?? this.#options.approvalMode;
    const isOther = session.kind === "take-up" && !session.isFork;
    // One that cannot be had leaves the one that is open. What is copied is the open one, when it is closed.
    const held = isOther ? await this.#takeUp({ ...this.#options, session }) : null;
    await this.close();
    this.#options = { ...this.#options, approvalMode, session };
    this.#opened = null;
    return this.open(held);
  }

  /** Switches the session to another model, perhaps one that was just `added`. Throws when no service is known for it. */
  useModel(name: string, added?: Settings["models"][string]): void {
    if (this.#opened === null) return;
    const { settings } = this.#opened;
    const models = added === undefined ? settings.models : { ...settings.models, [name]: added };
    const changed = { ...settings, models, model: { ...settings.model, name } };
    const choice = added && chooseModel(changed, process.env);
    this.#session?.useModel(choice ? openModel(choice) : name);
    this.#options = { ...this.#options, model: name };
    this.#opened = { ...this.#opened, settings: changed };
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.close();
    if (this.#beforeDemo !== null) this.#options = this.#beforeDemo;
    this.#beforeDemo = null;
    this.#needs.closed();
  }

  #follow(session: Session): Session {
    this.#session = session;
    const hear = async (): Promise<void> => {
      for await (const { event } of session.events()) {
        if (session === this.#session) this.#needs.hear(event);
      }
    };
    hear().catch((error: unknown) => this.#needs.tell(messageOf(error)));
    return session;
  }
}
