// What the service and its tests send, and MongoDB 8 takes (https://www.mongodb.com/docs/v8.0/reference/). MongoDB
// knows more; what is missing here counts as refused until somebody has looked it up there.

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Fields that every command may have: those of sessions, and those that the driver adds. */
export const fieldsOfAll = words(`lsid txnNumber autocommit startTransaction $clusterTime $db maxTimeMS readConcern
  $readPreference`);

/** The fields of these, in every command. */
export const optionFields: Record<string, ReadonlySet<string>> = {
  cursor: words('batchSize'),
  readConcern: words('level afterClusterTime atClusterTime'),
  writeConcern: words('w j wtimeout'),
  $readPreference: words('mode'),
};

export const commands: Record<string, ReadonlySet<string>> = {
  find: words('filter sort projection hint skip limit batchSize singleBatch noCursorTimeout'),
  aggregate: words('pipeline cursor hint'),
  count: words('query limit skip'),
  distinct: words('key query'),
  insert: words('documents ordered writeConcern'),
  update: words('updates ordered writeConcern'),
  delete: words('deletes ordered writeConcern'),
  findAndModify: words('query sort remove update new fields upsert writeConcern'),
  bulkWrite: words('ops nsInfo ordered errorsOnly bypassDocumentValidation writeConcern'),
  getMore: words('collection batchSize'),
  killCursors: words('cursors'),
  commitTransaction: words('recoveryToken writeConcern'),
  abortTransaction: words('recoveryToken writeConcern'),
  // The driver asks for no answer.
  endSessions: words('writeConcern'),
  createIndexes: words('indexes writeConcern'),
  listIndexes: words('cursor'),
  dropIndexes: words('index writeConcern'),
  collMod: words('index writeConcern'),
  create: words('writeConcern'),
  drop: words('writeConcern'),
  dropDatabase: words('writeConcern'),
  listCollections: words('filter nameOnly authorizedCollections cursor'),
  hello: words('topologyVersion maxAwaitTimeMS helloOk backpressure client compression loadBalanced'),
  ismaster: words('topologyVersion maxAwaitTimeMS helloOk backpressure client compression loadBalanced'),
  ping: words(''),
  buildInfo: words(''),
  explain: words('verbosity'),
  setParameter: words('transactionLifetimeLimitSeconds'),
};

/** The fields of one statement of a command. */
export const statementFields: Record<string, ReadonlySet<string>> = {
  update: words('q u upsert multi arrayFilters hint'),
  delete: words('q limit hint'),
  'bulkWrite insert': words('insert document'),
  'bulkWrite update': words('update filter updateMods multi upsert arrayFilters hint'),
  'bulkWrite delete': words('delete filter multi hint'),
};

export const inTransactions = words(`find aggregate distinct insert update delete findAndModify bulkWrite getMore
  killCursors commitTransaction abortTransaction`);
export const ofNewCollections = words('createIndexes create');
export const endsTransaction = words('commitTransaction abortTransaction');
export const ofAdmin = words('commitTransaction abortTransaction bulkWrite');

export const readConcernsInTransactions = words('local majority snapshot');
/** The levels of read concern by command, outside of transactions. */
export const readConcerns: Record<string, ReadonlySet<string>> = {
  find: readConcernsInTransactions,
  aggregate: readConcernsInTransactions,
  distinct: readConcernsInTransactions,
  count: words('local majority'),
};

export const fieldOperators = words('$eq $ne $gt $gte $lt $lte $in $nin $exists $all');
/** Operators whose value is a list. */
export const listOperators = words('$in $nin $all');
/** Operators whose value is a list of conditions, which must not be empty. */
export const logicalOperators = words('$and $or $nor');

export const updateOperators = words('$inc $max $set $setOnInsert $unset $addToSet $pull $push');
export const pushModifiers = words('$each $slice');
export const updateStages = words('$set $unset');
export const stages = words('$match $group $limit $skip $sort');
export const expressionOperators = words('$add $indexOfArray');
export const accumulators = words('$sum');

export const indexOptions = words('key name unique sparse partialFilterExpression expireAfterSeconds');
export const partialOperators = words('$exists $gt');
export const collModIndexFields = words('name expireAfterSeconds hidden');
