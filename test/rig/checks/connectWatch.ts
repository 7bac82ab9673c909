// Records every TCP connection that this process opens. An async hook sees each one below `net` and `tls`, at the
// request to libuv.
import { createHook } from 'node:async_hooks';

export interface ConnectWatch {
  /** Returns the addresses of the connections since the start or the last call. */
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
