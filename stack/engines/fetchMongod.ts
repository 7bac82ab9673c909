// Fetches mongod of the given version into <folder>/bin/mongod. Runs as a separate process, because the downloader
// prints its progress to standard output.
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoBinary } from 'mongodb-memory-server-core/lib/util/MongoBinary.js';

const [version, folder] = process.argv.slice(2);
if (version === undefined || folder === undefined) throw new Error('Give a version and a folder.');

const downloadDir = await mkdtemp(join(folder, 'download-'));
// Without these settings the downloader prefers its own folders over `downloadDir`.
process.env.MONGOMS_PREFER_GLOBAL_PATH = 'false';
process.env.MONGOMS_DOWNLOAD_DIR = downloadDir;
const path = await MongoBinary.getPath({ version, downloadDir });
await mkdir(join(folder, 'bin'));
await rename(path, join(folder, 'bin', 'mongod'));
await rm(downloadDir, { recursive: true });
