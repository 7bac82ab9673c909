// The compose file as it is rehearsed: the project's own, with the changes that this file lists and nothing else.
import { parse, stringify } from 'yaml';

interface Service {
  image: string;
  entrypoint?: readonly string[];
  command?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  healthcheck?: { test: readonly string[] };
  ports?: readonly string[];
  volumes?: readonly string[];
  depends_on?: Readonly<Record<string, { condition: string }>>;
  stop_grace_period?: string;
  mem_limit?: string;
}

export interface ComposeFile {
  name: string;
  services: Record<string, Service>;
}

interface Change {
  what: string;
  make: (file: ComposeFile) => void;
}

const apis = ['api', 'api-2'] as const;
const workers = ['worker', 'worker-2'] as const;
/** Those of the service itself, workers first, as they are upgraded. */
export const services = [...workers, ...apis];

/** Temporal's server, a container for each of its roles, by its port. */
const rolePorts = { temporal: 7233, 'temporal-history': 7234, 'temporal-matching': 7235, 'temporal-worker': 7239 };
export const temporalRoles = Object.keys(rolePorts);

/** A second one of a service, with no ports of the machine. */
function double({ services }: ComposeFile, [first, second]: readonly [string, string]): void {
  const { ports: _, ...twin } = services[first] ?? { image: '' };
  services[second] = twin;
}

/** Of this machine. */
export interface Places {
  /** Ports that lead to containers. */
  ports: { apis: readonly [number, number]; mongodb: number; temporal: number };
  folders: {
    /** A small disk for PostgreSQL. */
    postgres: string;
    /** Holds the module that moves a clock, and for each container the file that says how far. */
    clocks: string;
  };
  /** Settings of APIs and workers with which they call the stand-ins. */
  env: Record<string, string>;
}

/** The file in the folder of the clocks that moves the clock of a service. */
export const clockOf = (service: string): string => `${service}.clock`;

const embedded = ['secantusd-rs', '--host', '0.0.0.0', '--port', '27017', '--storage-path', '/data/db'];

export const changes = ({ ports, folders, env }: Places): Change[] => [
  {
    what: 'images are named without their digests, which a local image cannot have',
    make: ({ services }) => {
      for (const service of Object.values(services)) service.image = withoutDigests(service.image);
    },
  },
  {
    what: "no logging driver 'local', which podman does not have; the service's image is built before",
    make: ({ services }) => {
      for (const [name, service] of Object.entries(services)) {
        const { logging: _, build: __, ...rest } = service as Service & { logging?: unknown; build?: unknown };
        services[name] = rest;
      }
    },
  },
  {
    what: "the embedded engine in MongoDB's place, without users and without the replica set's first start",
    make: ({ services: { mongodb, 'mongodb-init': init } }) => {
      if (!mongodb || !init) throw new Error('The compose file has no mongodb.');
      mongodb.entrypoint = [...embedded, '--sync-on-commit', '--log-file-max', '32MB', '--cache-size', '512M'];
      mongodb.healthcheck = { ...mongodb.healthcheck, test: ['CMD', 'bash', '-c', '</dev/tcp/127.0.0.1/27017'] };
      init.entrypoint = ['true'];
    },
  },
  {
    what: 'no web page of Temporal, whose image is not built',
    make: ({ services }) => {
      delete services['temporal-ui'];
    },
  },
  {
    what: "Temporal's four roles in a container each",
    make: ({ services }) => {
      const { temporal } = services;
      if (!temporal) throw new Error('The compose file has no temporal.');
      for (const [name, port] of Object.entries(rolePorts))
        services[name] = {
          ...temporal,
          environment: {
            ...temporal.environment,
            TEMPORAL_SERVICES: name === 'temporal' ? 'frontend' : name.replace('temporal-', ''),
            PUBLIC_FRONTEND_ADDRESS: 'temporal:7233',
            // Together less than PostgreSQL's 100.
            ...{ SQL_MAX_CONNS: '12', SQL_VIS_MAX_CONNS: '6' },
          },
          healthcheck: { ...temporal.healthcheck, test: ['CMD', 'nc', '-z', '127.0.0.1', `${port}`] },
        };
      const { 'temporal-namespace': namespace } = services;
      const isHealthy = { condition: 'service_healthy' };
      if (namespace) namespace.depends_on = Object.fromEntries(temporalRoles.map((name) => [name, isHealthy]));
    },
  },
  {
    what: 'two APIs and two workers, and other ports of this machine',
    make: (file) => {
      double(file, apis);
      double(file, workers);
      for (const service of Object.values(file.services)) service.ports = [];
      const { mongodb, temporal } = file.services;
      if (mongodb) mongodb.ports = [`127.0.0.1:${ports.mongodb}:27017`];
      if (temporal) temporal.ports = [`127.0.0.1:${ports.temporal}:7233`];
      for (const [index, name] of apis.entries()) {
        const api = file.services[name];
        if (api) api.ports = [`127.0.0.1:${ports.apis[index]}:3000`];
      }
    },
  },
  {
    what: 'settings of APIs and workers: no limit of requests, the embedded engine, and the stand-ins for Apple and receivers',
    make: ({ services }) => {
      for (const name of [...apis, ...workers]) {
        const service = services[name];
        if (service) service.environment = { ...service.environment, ...unlimited, MONGODB_EMBEDDED: 'true', ...env };
      }
    },
  },
  {
    what: 'a clock for each API and worker that can be moved, and a small disk for PostgreSQL',
    make: ({ services }) => {
      for (const name of [...apis, ...workers]) {
        const service = services[name];
        if (!service) continue;
        const { NODE_OPTIONS = '', ...rest } = service.environment ?? {};
        const moved = `${NODE_OPTIONS} --import=/clocks/movableClock.mjs`;
        service.environment = { ...rest, NODE_OPTIONS: moved, CLOCK_FILE: `/clocks/${clockOf(name)}` };
        service.volumes = [...(service.volumes ?? []), `${folders.clocks}:/clocks:ro`];
      }
      if (services.postgres) services.postgres.volumes = [`${folders.postgres}:/var/lib/postgresql/data`];
    },
  },
];

const unlimited = {
  RATE_LIMIT_AUTHENTICATED: '1000000000',
  RATE_LIMIT_PUBLIC: '1000000000',
  WALLET_REGISTRATIONS_PER_PASS: '1000000000',
  WALLET_CALLS_PER_ADDRESS: '1000000000',
  MERCHANT_MAX_RUNNING_BATCHES: '10000',
  MERCHANT_MAX_CAMPAIGNS_A_DAY: '10000',
};

export const withoutDigests = (text: string): string => text.replaceAll(/@sha256:[\da-f]{64}/g, '');

/** What podman-compose ignores, so that the rehearsal itself keeps to it. */
export type Rules = Readonly<Record<string, Pick<Service, 'depends_on' | 'stop_grace_period'>>>;

export function rehearsed(
  text: string,
  { name, made }: { name: string; made: readonly Change[] },
): { text: string; rules: Rules } {
  const file: ComposeFile = { ...parse(text, { merge: true }), name };
  for (const { make } of made) make(file);
  const rules = structuredClone(file.services);
  for (const service of Object.values(file.services)) delete service.depends_on;
  return { text: stringify(file, { aliasDuplicateObjects: false }), rules };
}
