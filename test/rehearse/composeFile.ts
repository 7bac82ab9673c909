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

export const apis = ['api', 'api-2'] as const;
export const workers = ['worker', 'worker-2'] as const;

/** A second one of a service, with no ports of the machine. */
function double({ services }: ComposeFile, [first, second]: readonly [string, string]): void {
  const { ports: _, ...twin } = services[first] ?? { image: '' };
  services[second] = twin;
}

const embedded = ['secantusd-rs', '--host', '0.0.0.0', '--port', '27017', '--storage-path', '/data/db'];

export const changes = ({ proxy }: { proxy: { port: number; folder: string } }): Change[] => [
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
    what: 'two APIs and two workers, the ports of this machine left out but for the proxy, which ends TLS',
    make: (file) => {
      double(file, apis);
      double(file, workers);
      for (const service of Object.values(file.services)) service.ports = [];
      file.services.proxy = {
        image: 'rehearsal-proxy',
        volumes: [`${proxy.folder}:/etc/proxy:ro`],
        ports: [`127.0.0.1:${proxy.port}:8443`],
        command: ['haproxy', '-f', '/etc/proxy/haproxy.cfg'],
        depends_on: Object.fromEntries(apis.map((name) => [name, { condition: 'service_healthy' }])),
      };
    },
  },
];

export const withoutDigests = (text: string): string => text.replaceAll(/@sha256:[\da-f]{64}/g, '');

/** What each service waits for. */
export type Waits = Readonly<Record<string, NonNullable<Service['depends_on']>>>;

/** `waits` leaves the text: podman waits for no health, so the rehearsal itself keeps the order of the file. */
export function rehearsed(
  text: string,
  { name, made }: { name: string; made: readonly Change[] },
): { text: string; waits: Waits } {
  const file: ComposeFile = { ...parse(text, { merge: true }), name };
  for (const { make } of made) make(file);
  const waits = Object.fromEntries(
    Object.entries(file.services).map(([service, { depends_on: waited = {} }]) => [service, waited]),
  );
  for (const service of Object.values(file.services)) delete service.depends_on;
  return { text: stringify(file, { aliasDuplicateObjects: false }), waits };
}
