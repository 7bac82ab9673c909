// Starts a service without one of its guarantees: loads the module that breaks it, then the unchanged service.
import { pathToFileURL } from 'node:url';

const [breaking = '', service = ''] = process.argv.slice(2);
await import(breaking);
await import(pathToFileURL(service).href);
