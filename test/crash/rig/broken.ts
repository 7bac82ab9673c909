// Starts a service with one of its guarantees switched off: first the module that breaks it, then the service as it is.
import { pathToFileURL } from 'node:url';

const [breaking = '', service = ''] = process.argv.slice(2);
await import(breaking);
await import(pathToFileURL(service).href);
