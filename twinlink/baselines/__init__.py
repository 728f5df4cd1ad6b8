"""Methods of other papers: Bitextor (2010), WebMining, and STRAND as Jangeldin & Assylbekov have it."""
