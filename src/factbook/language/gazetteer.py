"""List countries, regions and cities, as names that are asked of the map and not kept as things.

Our own list: every country and capital; the states and provinces of large federations; regions that
people travel to; cities of about half a million people and more, in Europe and North America of
about a quarter, and smaller ones that are known everywhere. Spelled as in English, and as their
own people spell them; `commonplace.is_place` compares without diacritics. Left out is what mostly
means something else ("Split", "Reading", "Hamilton").
"""

from __future__ import annotations

from typing import Final

__all__ = ["PLACES"]


def _names(text: str) -> frozenset[str]:
    return frozenset(" ".join(name.split()) for name in text.replace("\n", "|").split("|") if name)


_WORLD: Final = _names("""
africa|antarctica|asia|australia|europe|north america|south america|latin america|central america
oceania|the americas|america|middle east|near east|far east|scandinavia|balkans|the balkans
caribbean|the caribbean|southeast asia|south asia|east asia|central asia|central europe
eastern europe|western europe|north africa|west africa|east africa|sub-saharan africa|polynesia
melanesia|benelux|baltics|the baltics|iberia|the gulf|levant|maghreb|patagonia|siberia|arctic
the arctic|european union|eu|earth|north|south|east|west|northeast|northwest|southeast|southwest
""")

_COUNTRIES: Final = _names("""
afghanistan|albania|algeria|andorra|angola|antigua and barbuda|antigua|argentina|armenia|austria
osterreich|azerbaijan|bahamas|bahrain|bangladesh|barbados|belarus|belgium|belgique|belgie|belize
benin|bhutan|bolivia|bosnia and herzegovina|bosnia|botswana|brazil|brasil|brunei|bulgaria
burkina faso|burundi|cambodia|cameroon|canada|cape verde|cabo verde|central african republic|chad
chile|china|colombia|comoros|congo|democratic republic of the congo|dr congo|costa rica|croatia
hrvatska|cuba|cyprus|czech republic|czechia|denmark|danmark|djibouti|dominica|dominican republic
east timor|timor-leste|ecuador|egypt|el salvador|equatorial guinea|eritrea|estonia|eesti|eswatini
swaziland|ethiopia|fiji|finland|suomi|france|gabon|gambia|georgia|germany|deutschland|ghana
gibraltar|greece|greenland|grenada|guadeloupe|guam|guatemala|guinea|guinea-bissau|guyana|haiti
honduras|hungary|magyarorszag|iceland|india|indonesia|iran|iraq|ireland|eire|israel|italy|italia
ivory coast|cote d'ivoire|jamaica|japan|jordan|kazakhstan|kenya|kiribati|kosovo|kuwait|kyrgyzstan
laos|latvia|latvija|lebanon|lesotho|liberia|libya|liechtenstein|lithuania|lietuva|luxembourg
luxemburg|madagascar|malawi|malaysia|maldives|mali|malta|marshall islands|martinique|mauritania
mauritius|mexico|micronesia|moldova|monaco|mongolia|montenegro|morocco|mozambique|myanmar|burma
namibia|nauru|nepal|netherlands|the netherlands|nederland|holland|new zealand|aotearoa|nicaragua
niger|nigeria|north korea|north macedonia|macedonia|norway|norge|oman|pakistan|palau|palestine
panama|papua new guinea|paraguay|peru|philippines|the philippines|poland|polska|portugal
puerto rico|qatar|romania|russia|rwanda|saint lucia|saint kitts and nevis|samoa|san marino
saudi arabia|senegal|serbia|srbija|seychelles|sierra leone|singapore|slovakia|slovensko|slovenia
slovenija|solomon islands|somalia|south africa|south korea|korea|south sudan|spain|espana
sri lanka|sudan|suriname|sweden|sverige|switzerland|schweiz|suisse|svizzera|syria|taiwan
tajikistan|tanzania|thailand|togo|tonga|trinidad and tobago|trinidad|tunisia|turkey|turkiye
turkmenistan|tuvalu|uganda|ukraine|united arab emirates|uae|united kingdom|uk|u.k|great britain
britain|england|scotland|wales|northern ireland|united states|united states of america
the united states|usa|u.s.a|u.s|us|uruguay|uzbekistan|vanuatu|vatican city|vatican|venezuela
vietnam|viet nam|western sahara|yemen|zambia|zimbabwe
""")

_REGIONS: Final = _names("""
alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho
illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota
mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|new york
new york state|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island
south carolina|south dakota|tennessee|texas|utah|vermont|virginia|west virginia|washington state
wisconsin|wyoming|district of columbia|new england|midwest|west coast|east coast|deep south
pacific northwest|silicon valley|bay area|orange county|long island|cape cod|southern california
ontario|quebec|british columbia|alberta|manitoba|saskatchewan|nova scotia|new brunswick
newfoundland|labrador|prince edward island|yukon|northwest territories|nunavut|new south wales
queensland|tasmania|western australia|south australia|northern territory|bavaria|bayern
baden-wurttemberg|hesse|hessen|lower saxony|niedersachsen|north rhine-westphalia
nordrhein-westfalen|rhineland|rhineland-palatinate|saarland|saxony|sachsen|saxony-anhalt
schleswig-holstein|thuringia|thuringen|brandenburg|black forest|ruhr|allgau|franconia|tyrol|tirol
carinthia|styria|steiermark|vorarlberg|ticino|valais|engadin|alsace|aquitaine|auvergne|brittany
bretagne|burgundy|bourgogne|corsica|dordogne|loire valley|normandy|normandie|occitanie|picardy
provence|cote d'azur|french riviera|savoy|abruzzo|apulia|puglia|basilicata|calabria|campania
emilia-romagna|friuli|lazio|liguria|lombardy|lombardia|marche|molise|piedmont|piemonte|sardinia
sardegna|sicily|sicilia|south tyrol|tuscany|toscana|trentino|umbria|veneto|amalfi coast|andalusia
andalucia|aragon|asturias|basque country|canary islands|cantabria|castile|catalonia|catalunya
extremadura|galicia|murcia|navarre|la rioja|balearic islands|mallorca|majorca|menorca|ibiza
tenerife|gran canaria|lanzarote|fuerteventura|algarve|alentejo|madeira|azores|crete|rhodes|corfu
santorini|mykonos|peloponnese|cyclades|dalmatia|istria|transylvania|bohemia|moravia|silesia
pomerania|masuria|galilee|lapland|jutland|skane|flanders|wallonia|friesland|zeeland|limburg|frisia
cornwall|devon|dorset|kent|essex|sussex|suffolk|norfolk|yorkshire|lancashire|cumbria|lake district
cotswolds|midlands|east anglia|northumberland|derbyshire|somerset|hampshire|wiltshire|oxfordshire
cambridgeshire|hertfordshire|scottish highlands|orkney|shetland|hebrides|isle of man|isle of wight
guernsey|connemara|county cork|county kerry|ulster|munster|leinster|connacht|andhra pradesh|assam
bihar|goa|gujarat|haryana|himachal pradesh|jharkhand|karnataka|kashmir|kerala|ladakh
madhya pradesh|maharashtra|odisha|punjab|rajasthan|sikkim|tamil nadu|telangana|uttar pradesh
uttarakhand|west bengal|bengal|sindh|balochistan|anhui|fujian|gansu|guangdong|guangxi|guizhou
hainan|hebei|heilongjiang|henan|hubei|hunan|jiangsu|jiangxi|jilin|liaoning|inner mongolia|ningxia
qinghai|shaanxi|shandong|shanxi|sichuan|tibet|xinjiang|yunnan|zhejiang|manchuria|hokkaido|honshu
kyushu|shikoku|okinawa|kanto|kansai|bali|sumatra|borneo|lombok|sulawesi|sabah|sarawak|phuket|luzon
mindanao|jeju|bahia|minas gerais|parana|pernambuco|rio grande do sul|santa catarina|amazonas|ceara
jalisco|oaxaca|yucatan|chiapas|baja california|sonora|quintana roo|gauteng|western cape
eastern cape|kwazulu-natal|zanzibar|crimea|donbas|chechnya|dagestan|tatarstan|kurdistan
""")

_CITIES: Final = _names("""
abu dhabi|abuja|accra|addis ababa|algiers|amman|amsterdam|andorra la vella|ankara|antananarivo
apia|ashgabat|asmara|astana|nur-sultan|asuncion|athens|athina|baghdad|baku|bamako
bandar seri begawan|bangkok|bangui|banjul|beijing|peking|beirut|belgrade|beograd|belmopan|berlin
bern|berne|bishkek|bissau|bogota|brasilia|bratislava|brazzaville|bridgetown|brussels|bruxelles
brussel|bucharest|bucuresti|budapest|buenos aires|bujumbura|cairo|canberra|cape town|caracas
castries|chisinau|colombo|conakry|copenhagen|kobenhavn|dakar|damascus|delhi|new delhi|dhaka|dili
djibouti city|dodoma|doha|dublin|dushanbe|freetown|funafuti|gaborone|georgetown|gitega
guatemala city|hanoi|harare|havana|helsinki|honiara|islamabad|jakarta|jerusalem|juba|kabul|kampala
kathmandu|khartoum|kiev|kyiv|kigali|kingston|kinshasa|kuala lumpur|kuwait city|libreville|lilongwe
lima|lisbon|lisboa|ljubljana|lome|london|luanda|lusaka|luxembourg city|madrid|malabo|managua
manama|manila|maputo|maseru|mbabane|mexico city|ciudad de mexico|minsk|mogadishu|monrovia
montevideo|moroni|moscow|moskva|muscat|nairobi|nassau|naypyidaw|n'djamena|niamey|nicosia
nouakchott|nuku'alofa|nuuk|oslo|ottawa|ouagadougou|palikir|panama city|paramaribo|paris|phnom penh
podgorica|port-au-prince|port louis|port moresby|port of spain|port vila|porto-novo|prague|praha
praia|pretoria|pristina|pyongyang|quito|rabat|reykjavik|riga|riyadh|rome|roma|roseau|san jose
san juan|san salvador|sanaa|santiago|santiago de chile|santo domingo|sao tome|sarajevo|seoul
skopje|sofia|stockholm|sucre|suva|taipei|tallinn|tarawa|tashkent|tbilisi|tegucigalpa|tehran
the hague|den haag|thimphu|tirana|tokyo|tripoli|tunis|ulaanbaatar|ulan bator|vaduz|valletta|vienna
wien|vientiane|vilnius|warsaw|warszawa|washington|washington dc|washington d.c|wellington|windhoek
yamoussoukro|yaounde|yerevan|zagreb|aachen|augsburg|bielefeld|bochum|bonn|braunschweig|bremen
chemnitz|cologne|koln|darmstadt|dortmund|dresden|duisburg|dusseldorf|duesseldorf|erfurt|essen
frankfurt|frankfurt am main|freiburg|gelsenkirchen|gottingen|halle|hamburg|hanover|hannover
heidelberg|ingolstadt|jena|karlsruhe|kassel|kiel|koblenz|leipzig|leverkusen|lubeck|ludwigshafen
magdeburg|mainz|mannheim|monchengladbach|munich|munchen|munster|nuremberg|nurnberg|oldenburg
osnabruck|paderborn|potsdam|regensburg|rostock|saarbrucken|stuttgart|trier|tubingen|ulm|weimar
wiesbaden|wolfsburg|wuppertal|wurzburg|graz|linz|salzburg|innsbruck|klagenfurt|basel|geneva|geneve
genf|lausanne|lucerne|luzern|lugano|st gallen|winterthur|zurich|zuerich|zermatt|aix-en-provence
amiens|angers|annecy|avignon|besancon|bordeaux|brest|caen|cannes|clermont-ferrand|dijon|grenoble
le havre|le mans|lille|limoges|lyon|lyons|marseille|metz|montpellier|mulhouse|nantes|nice|nimes
orleans|perpignan|reims|rennes|rouen|saint-etienne|saint-malo|strasbourg|toulon|toulouse
versailles|antwerp|antwerpen|bruges|brugge|charleroi|ghent|gent|leuven|liege|namur|almere|arnhem
breda|delft|eindhoven|enschede|groningen|haarlem|leiden|maastricht|nijmegen|rotterdam|tilburg
utrecht|aberdeen|belfast|birmingham|blackpool|bournemouth|bradford|brighton|bristol|cambridge
canterbury|cardiff|coventry|derry|dundee|durham|edinburgh|exeter|glasgow|gloucester|inverness
ipswich|leeds|leicester|liverpool|luton|manchester|middlesbrough|milton keynes|newcastle
newcastle upon tyne|northampton|norwich|nottingham|oxford|peterborough|plymouth|portsmouth|salford
sheffield|southampton|stoke-on-trent|sunderland|swansea|swindon|wolverhampton|york|cork|galway
limerick|waterford|aalborg|aarhus|arhus|odense|malmo|gothenburg|goteborg|linkoping|lund|norrkoping
orebro|umea|uppsala|vasteras|bergen|stavanger|tromso|trondheim|espoo|oulu|tampere|turku|vantaa
akureyri|kaunas|klaipeda|daugavpils|tartu|bari|bergamo|bologna|bolzano|brescia|cagliari|catania
ferrara|florence|firenze|genoa|genova|lecce|livorno|messina|milan|milano|modena|naples|napoli
padua|padova|palermo|parma|perugia|pisa|ravenna|rimini|salerno|siena|syracuse|taranto|trento
trieste|turin|torino|udine|venice|venezia|verona|vicenza|a coruna|alicante|almeria|badajoz
barcelona|bilbao|burgos|cadiz|cordoba|donostia|gijon|girona|granada|las palmas|malaga|marbella
oviedo|palma|palma de mallorca|pamplona|salamanca|san sebastian|santander|santiago de compostela
segovia|sevilla|seville|tarragona|toledo|valencia|valladolid|vigo|zaragoza|saragossa|braga|coimbra
evora|faro|funchal|porto|oporto|sintra|bialystok|bydgoszcz|gdansk|gdynia|katowice|krakow|cracow
lodz|lublin|poznan|szczecin|torun|wroclaw|brno|ostrava|plzen|pilsen|olomouc|kosice|debrecen|gyor
pecs|szeged|brasov|cluj-napoca|cluj|constanta|iasi|sibiu|timisoara|burgas|plovdiv|varna|dubrovnik
osijek|rijeka|zadar|maribor|banja luka|mostar|novi sad|durres|heraklion|ioannina|patras|piraeus
thessaloniki|larnaca|limassol|dnipro|donetsk|kharkiv|kharkov|kherson|kryvyi rih|lviv|lvov|mariupol
odesa|odessa|zaporizhzhia|gomel|hrodna|mogilev|vitebsk|chelyabinsk|kaliningrad|kazan|krasnodar
krasnoyarsk|murmansk|nizhny novgorod|novosibirsk|omsk|perm|rostov-on-don|saint petersburg
st petersburg|st. petersburg|saratov|sochi|ufa|vladivostok|volgograd|voronezh|yekaterinburg
irkutsk|tyumen|batumi|kutaisi|gyumri|adana|antalya|bursa|diyarbakir|eskisehir|gaziantep|istanbul
izmir|kayseri|konya|mersin|trabzon|almaty|shymkent|samarkand|bukhara|aleppo|homs|haifa|tel aviv
tel-aviv|eilat|nazareth|bethlehem|gaza|ramallah|hebron|jaffa|aqaba|basra|erbil|mosul|najaf|isfahan
mashhad|shiraz|tabriz|dubai|sharjah|ajman|jeddah|jidda|mecca|makkah|medina|dammam|aden|salalah
agra|ahmedabad|allahabad|prayagraj|amritsar|aurangabad|bangalore|bengaluru|bhopal|bhubaneswar
chandigarh|chennai|madras|coimbatore|dehradun|faridabad|ghaziabad|gurgaon|gurugram|guwahati
hyderabad|indore|jaipur|jodhpur|kanpur|kochi|cochin|kolkata|calcutta|kozhikode|lucknow|ludhiana
madurai|mangalore|meerut|mumbai|bombay|mysore|mysuru|nagpur|nashik|noida|patna|pondicherry|pune
poona|raipur|rajkot|ranchi|shimla|srinagar|surat|thane|thiruvananthapuram|trivandrum|udaipur
vadodara|varanasi|vijayawada|visakhapatnam|faisalabad|gujranwala|karachi|lahore|multan|peshawar
quetta|rawalpindi|sialkot|chittagong|chattogram|khulna|sylhet|kandahar|herat|mazar-i-sharif
pokhara|kandy|galle|jaffna|baoding|baotou|changchun|changsha|changzhou|chengdu|chongqing|dalian
dongguan|foshan|fuzhou|guangzhou|canton|guilin|guiyang|haikou|hangzhou|harbin|hefei|hohhot
hong kong|hongkong|jinan|kowloon|kunming|lanzhou|lhasa|luoyang|macau|macao|nanchang|nanjing
nanning|ningbo|qingdao|shanghai|shantou|shaoxing|shenyang|shenzhen|shijiazhuang|suzhou|taiyuan
tangshan|tianjin|urumqi|wenzhou|wuhan|wuxi|xiamen|xi'an|xian|xining|xuzhou|yantai|yinchuan
zhengzhou|zhuhai|zibo|kaohsiung|keelung|taichung|tainan|hsinchu|chiba|fukuoka|hakodate|hamamatsu
himeji|hiroshima|kagoshima|kanazawa|kitakyushu|kobe|kumamoto|kyoto|matsuyama|nagano|nagasaki
nagoya|nara|niigata|okayama|osaka|saitama|sapporo|sendai|shizuoka|yokohama|busan|pusan|daegu
daejeon|gwangju|incheon|jeonju|suwon|ulsan|chiang mai|chiang rai|pattaya|ayutthaya|da nang|danang
hai phong|haiphong|ho chi minh city|saigon|hoi an|nha trang|siem reap|luang prabang|mandalay
yangon|rangoon|george town|ipoh|johor bahru|kota kinabalu|kuching|malacca|melaka|penang|bandung
batam|denpasar|makassar|malang|medan|palembang|semarang|surabaya|ubud|yogyakarta|baguio|cebu
cebu city|davao|quezon city|makati|abidjan|agadir|alexandria|aswan|luxor|giza|port said|benghazi
blantyre|bloemfontein|bulawayo|casablanca|dar es salaam|douala|durban|east london|fes|fez|gqeberha
port elizabeth|ibadan|johannesburg|soweto|kaduna|kano|kisumu|kumasi|lagos|lubumbashi|marrakech
marrakesh|meknes|mombasa|ndola|omdurman|oran|port harcourt|sfax|tangier|zanzibar city|benin city
polokwane|stellenbosch|arusha|anchorage|albuquerque|ann arbor|arlington|asheville|atlanta|austin
bakersfield|baltimore|baton rouge|bellevue|berkeley|boise|boston|brooklyn|burlington|charleston
charlotte|chattanooga|chicago|chula vista|cincinnati|cleveland|colorado springs|columbus
corpus christi|dallas|dayton|denver|des moines|detroit|el paso|fargo|fort collins|fort lauderdale
fort worth|fort wayne|fresno|grand rapids|greensboro|harlem|hartford|hollywood|honolulu|houston
huntsville|indianapolis|irvine|jacksonville|jersey city|kansas city|key west|knoxville|laredo
las vegas|lexington|little rock|long beach|los angeles|los angeles county|la|l.a|louisville
lubbock|manhattan|memphis|miami|miami beach|milwaukee|minneapolis|myrtle beach|napa|nashville
new haven|new orleans|new york city|nyc|newark|oakland|oklahoma city|omaha|orlando|palm springs
palo alto|pasadena|philadelphia|phoenix|pittsburgh|plano|portland|queens|raleigh|reno|richmond
rochester|sacramento|saint louis|salt lake city|san antonio|san bernardino|san diego|san francisco
santa ana|santa barbara|santa cruz|santa fe|santa monica|scottsdale|scranton|seattle|spokane
springfield|st louis|st. louis|st paul|st. paul|staten island|stockton|tacoma|tallahassee|tampa
tampa bay|tempe|the bronx|tucson|tulsa|virginia beach|wichita|worcester|calgary|edmonton
fredericton|gatineau|halifax|kelowna|kitchener|laval|mississauga|moncton|montreal|niagara falls
quebec city|saskatoon|st. john's|sudbury|toronto|vancouver|whistler|winnipeg|whitehorse
yellowknife|acapulco|cancun|chihuahua|ciudad juarez|culiacan|guadalajara|guanajuato|hermosillo
mexicali|monterrey|morelia|playa del carmen|puebla|puerto vallarta|queretaro|tijuana|tulum
veracruz|zapopan|antigua guatemala|holguin|santiago de cuba|varadero|montego bay|ponce|punta cana
arequipa|cusco|cuzco|iquitos|barquisimeto|maracaibo|barranquilla|bucaramanga|cali|cartagena
medellin|guayaquil|cuenca|la paz|cochabamba|potosi|santa cruz de la sierra|antofagasta|concepcion
valparaiso|vina del mar|bahia blanca|bariloche|la plata|mar del plata|salta|tucuman|ushuaia
punta del este|ciudad del este|belem|belo horizonte|campinas|curitiba|florianopolis|fortaleza
goiania|joao pessoa|maceio|manaus|niteroi|porto alegre|recife|rio de janeiro|rio|sao luis
sao paulo|teresina|vitoria|adelaide|alice springs|auckland|ballarat|bendigo|brisbane|byron bay
cairns|christchurch|dunedin|fremantle|geelong|gold coast|hobart|launceston|melbourne|perth
queenstown|rotorua|sunshine coast|sydney|tauranga|townsville|wollongong|papeete|noumea
""")

PLACES: Final = _WORLD | _COUNTRIES | _REGIONS | _CITIES
"""Countries, regions and large cities, in lower case and without diacritics."""
