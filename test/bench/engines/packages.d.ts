// What the engines use of their packages, so that the types are checked where the packages are not installed.
declare module 'pg' {
  interface Result {
    rows: unknown[];
  }
  interface Connection {
    query(text: string, values?: unknown[]): Promise<Result>;
  }
  export class Client implements Connection {
    constructor(options: { connectionString: string });
    connect(): Promise<void>;
    end(): Promise<void>;
    query(text: string, values?: unknown[]): Promise<Result>;
  }
  export class Pool implements Connection {
    constructor(options: { connectionString: string; max: number });
    connect(): Promise<Connection & { release(): void }>;
    query(text: string, values?: unknown[]): Promise<Result>;
  }
}

declare module 'graphile-worker' {
  export class Logger {
    constructor(makeLog: () => () => void);
  }
  export function runMigrations(options: { connectionString: string; logger: Logger }): Promise<void>;
  export function run(options: {
    logger: Logger;
    noHandleSignals: boolean;
    taskList: Record<string, (payload: unknown) => Promise<void>>;
    preset: { worker: Record<string, unknown> };
  }): Promise<unknown>;
}

declare module 'pg-boss' {
  interface SendOptions {
    retryLimit: number;
    retryDelay: number;
    retryBackoff: boolean;
    db: { executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }> };
  }
  export default class PgBoss {
    constructor(options: string | { connectionString: string; supervise: boolean; schedule: boolean });
    start(): Promise<unknown>;
    createQueue(name: string): Promise<void>;
    send(name: string, data: object, options: SendOptions): Promise<string | null>;
    fail(name: string, id: string, data: object): Promise<void>;
    work<Data>(
      name: string,
      options: { batchSize: number; pollingIntervalSeconds: number },
      handler: (jobs: { id: string; data: Data }[]) => Promise<void>,
    ): Promise<string>;
  }
}

declare module '@dbos-inc/dbos-sdk' {
  interface StepConfig {
    name: string;
    retriesAllowed: boolean;
    maxAttempts: number;
    intervalSeconds: number;
    backoffRate: number;
  }
  export const DBOS: {
    setConfig(config: Record<string, unknown>): void;
    launch(): Promise<void>;
    registerWorkflow<Input>(
      workflow: (input: Input) => Promise<void>,
      options: { name: string },
    ): (input: Input) => Promise<void>;
    runStep<T>(step: () => Promise<T>, config: StepConfig): Promise<T>;
  };
}

declare module '@dbos-inc/postgres-datasource' {
  export class PostgresDataSource {
    constructor(name: string, options: { host: string; port: number; username: string; database: string });
    readonly client: { unsafe(text: string, values: unknown[]): Promise<unknown[]> };
    runTransaction<T>(work: () => Promise<T>, options: { name: string }): Promise<T>;
  }
}

declare module '@restatedev/restate-sdk' {
  import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
  export class TerminalError extends Error {}
  interface ObjectContext {
    readonly key: string;
    readonly rand: { uuidv4(): string };
    get<T>(name: string): Promise<T | null>;
    set(name: string, value: unknown): void;
    run<T>(name: string, action: () => Promise<T>): Promise<T>;
    sleep(ms: number): Promise<void>;
    objectSendClient<Handlers>(definition: VirtualObject<Handlers>, key: string): Sent<Handlers>;
  }
  type Sent<Handlers> = {
    [Name in keyof Handlers]: Handlers[Name] extends (ctx: ObjectContext, input: infer Input) => unknown
      ? (input: Input) => void
      : never;
  };
  interface VirtualObject<Handlers> {
    name: string;
    handlers?: Handlers;
  }
  export function object<
    Handlers extends Record<string, (ctx: ObjectContext, input: never) => Promise<void>>,
  >(options: { name: string; handlers: Handlers }): VirtualObject<Handlers>;
  export function createEndpointHandler(options: {
    services: readonly VirtualObject<unknown>[];
    logger: () => void;
  }): (request: Http2ServerRequest, response: Http2ServerResponse) => void;
}
