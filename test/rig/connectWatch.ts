// Every TCP connection that this process begins, seen below net and tls at the point where libuv is asked for it.
import { createHook } from 'node:async_hooks';

export interface ConnectWatch {
  /** The addresses that connections were begun to, since the start or the last call. */
  take(): string[];
  stop(): void;
}

export function watchConnects(): ConnectWatch {
  let begun: object[] = [];
  const hook = createHook({
    init(_id, type, _trigger, request: object) {
      if (type === 'TCPCONNECTWRAP') begun.push(request);
    },
  }).enable();
  return {
    take() {
      const addresses = begun.map((request) => ('address' in request ? String(request.address) : 'unknown'));
      begun = [];
      return addresses;
    },
    stop() {
      hook.disable();
    },
  };
}
