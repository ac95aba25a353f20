import { type AgentEvent, createSession, type Session, type SessionOptions } from "@burin/core";
import { AskUser, chooseModel, describeError, type Settings } from "@burin/core/internal";
import { type ChatModel, openModel, settleCutCalls } from "@burin/core/sessions";
import { say } from "../../locales/say.ts";
import {
  buildSessionOptions,
  type CommonOptions,
  type Opened,
  openSettings,
  resolveSessionLocation,
} from "../../request/options.ts";

const MAX_NAMED = 5;

/** A recorded session that this process has locked, and its past events. */
interface Resumed {
  readonly held: Pick<SessionOptions, "resume" | "answer">;
  readonly past: readonly AgentEvent[];
}

interface DemoLocation {
  readonly root: string;
  readonly home: string;
  readonly model: ChatModel;
}

/** What all sessions of one run of the app share. */
interface HostOptions {
  readonly options: CommonOptions;
  /** Receives the session's events outside of its runs, such as questions. */
  readonly hear: (event: AgentEvent) => void;
  readonly closed: () => void;
  readonly tell: (notice: string) => void;
}

/** Opens the current session, and replaces it when the user switches to another one. */
export class SessionHost {
  readonly #needs: HostOptions;
  options: CommonOptions;
  session: Session | null = null;
  #opened: Opened | null = null;
  /** The options before the demo started; null when no demo is running. */
  #beforeDemo: CommonOptions | null = null;

  constructor(needs: HostOptions) {
    this.#needs = needs;
    this.options = needs.options;
  }

  get settings(): Settings | null {
    return this.#opened?.settings ?? null;
  }

  /** The model that will be used, or null if none is configured. */
  get modelName(): string | null {
    const { settings } = this;
    return settings && (chooseModel(settings, process.env)?.name ?? null);
  }

  /** Reads the settings again. Throws SettingsError. */
  async readSettings(tell = this.#needs.tell): Promise<Opened> {
    this.#opened = await openSettings(this.options);
    for (const notice of this.#opened.notices) tell(notice);
    return this.#opened;
  }

  /** Opens the session that the command line asks for. Returns the past events of a recorded one. */
  async open(taken: Resumed | null = null): Promise<readonly AgentEvent[]> {
    const opened = this.#opened ?? (await this.readSettings());
    const { session } = this.options;
    const { held, past } = taken ?? (await this.#resume(session));
    const { listRuleNotices } = await import("../../terminal/notes.ts");
    const created = createSession({
      ...buildSessionOptions(this.options, opened),
      record: session.kind !== "unrecorded",
      awaitsAnswers: true,
      tools: [new AskUser()],
      ...held,
    });
    this.#followSession(created);
    const named = { settings: opened.settings, options: this.options };
    for (const notice of await listRuleNotices(named, created.registry)) this.#needs.tell(notice);
    if (session.kind !== "unrecorded") void this.#tellOfCutCalls();
    return past;
  }

  /** Tells the user about changes by a Burin process that was killed; they can be undone. */
  async #tellOfCutCalls(): Promise<void> {
    const place = { ...resolveSessionLocation(this.options), environment: process.env };
    const list = (files: readonly string[]) => {
      const more =
        files.length > MAX_NAMED ? `, ${say("undo.more", { count: files.length - MAX_NAMED })}` : "";
      return `${files.slice(0, MAX_NAMED).join(", ")}${more}`;
    };
    for (const { id, call, files, later, laterId, isKnown } of await settleCutCalls(place)) {
      const { what } = call;
      if (!isKnown) this.#needs.tell(say("cut.unknown", { what }));
      if (files.length > 0) this.#needs.tell(say("cut.changed", { what, files: list(files), id }));
      if (later.length > 0) this.#needs.tell(say("cut.later", { files: list(later), id: laterId }));
    }
  }

  async #resume(session: CommonOptions["session"]): Promise<Resumed> {
    const past: AgentEvent[] = [];
    if (session.kind !== "resume") return { held: {}, past };
    const { resumeFromOptions } = await import("../print/resume-session.ts");
    const held = await resumeFromOptions({ ...this.options, session }, (event) => past.push(event));
    return { held, past };
  }

  get isDemo(): boolean {
    return this.#beforeDemo !== null;
  }

  /** Opens the demo: another folder, a scripted model and a home of its own, until another session is opened. */
  async openDemo({ root, home, model }: DemoLocation): Promise<void> {
    const { sandbox } = (this.#opened ?? (await this.readSettings())).settings;
    await this.close();
    this.#beforeDemo = this.options;
    this.options = { ...this.options, root, home, session: { kind: "unrecorded" }, approvalMode: "default" };
    const environment = { ...process.env, BURIN_HOME: home };
    this.#followSession(
      createSession({ root, model, environment, settings: { sandbox }, awaitsAnswers: true, record: true }),
    );
  }

  /** Closes the current session and continues in another one, new or recorded. */
  async changeSession(session: CommonOptions["session"]): Promise<readonly AgentEvent[]> {
    if (this.isDemo && session.kind === "resume") throw new Error(say("demo.noSessions"));
    const { approvalMode } = this.session ?? this.options;
    const isOther = session.kind === "resume" && !session.isFork;
    // Open the other session first: if that fails, the current one stays open. A copy of the current session can be
    // made only after it is closed.
    const taken = isOther ? await this.#resume(session) : null;
    await this.close();
    this.options = { ...this.options, approvalMode, session };
    this.#opened = null;
    return this.open(taken);
  }

  /** Switches to another model, which may be one that was just added. Throws if its service is not known. */
  useModel(name: string, added?: Settings["models"][string]): void {
    if (this.#opened === null) return;
    const { settings } = this.#opened;
    const models = added === undefined ? settings.models : { ...settings.models, [name]: added };
    const changed = { ...settings, models, model: { ...settings.model, name } };
    const choice = added && chooseModel(changed, process.env);
    this.session?.useModel(choice ? openModel(choice) : name);
    this.options = { ...this.options, model: name };
    this.#opened = { ...this.#opened, settings: changed };
  }

  /** Reopens the model, because its key has changed. */
  renewModel(): void {
    const choice = this.#opened && chooseModel(this.#opened.settings, process.env);
    if (choice) this.session?.useModel(openModel(choice));
  }

  /** Sets the reasoning effort from the next request on, without changing the settings. */
  useEffort(reasoning: string): void {
    if (this.#opened === null) return;
    const { settings } = this.#opened;
    const { name = "" } = settings.model;
    const entry = settings.models[name];
    const models =
      entry === undefined ? settings.models : { ...settings.models, [name]: { ...entry, reasoning } };
    const changed = { ...settings, models, model: { ...settings.model, reasoning } };
    const choice = chooseModel(changed, process.env);
    if (choice !== null) this.session?.useModel(openModel(choice));
    this.#opened = { ...this.#opened, settings: changed };
  }

  async close(): Promise<void> {
    const { session } = this;
    this.session = null;
    await session?.close();
    if (this.#beforeDemo !== null) this.options = this.#beforeDemo;
    this.#beforeDemo = null;
    this.#needs.closed();
  }

  #followSession(session: Session): void {
    this.session = session;
    const passEvents = async (): Promise<void> => {
      for await (const { event } of session.events()) {
        if (session === this.session) this.#needs.hear(event);
      }
    };
    passEvents().catch((error: unknown) => this.#needs.tell(describeError(error)));
  }
}
