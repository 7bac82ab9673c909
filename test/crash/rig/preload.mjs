// Runs a process of the service with a module that is loaded before its code, such as one that breaks a guarantee.
// Unlike Node's --import, it does not load the module into the threads of the process, which cannot read TypeScript.
import { pathToFileURL } from 'node:url';

const [module, script] = process.argv.slice(2);
await import(module);
await import(pathToFileURL(script).href);
